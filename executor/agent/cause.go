package agent

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
)

// causeKind orders the possible causes of a failure from root cause to consequence. When one rank fails, others fail
// too, often earlier: a peer's "connection reset" arrives before the kernel has reaped the process that died. So an
// agent collects the causes of all ranks and reports the one with the lowest kind, and of these the first.
type causeKind int

const (
	causeDied          causeKind = iota // killed by a signal that weir did not send, or exited without a message
	causeProgramKilled                  // reports that its program was killed by a signal that weir did not send
	causeStopped                        // stopped by a signal
	causeProtocol                       // violated the protocol
	causeFailed                         // reported an error of its own
	causeStalled                        // its loop stands still while others move
	causeOverdue                        // missed a deadline, but moves
	causeAgentEnded                     // its agent ends on its own
	causePeer                           // reports an error of a peer, or a timeout
	causePeerClosed                     // reports that a peer closed the connection, as a failing peer does
	causePeerMissing                    // a rank of another node did not arrive
	causeCancelled                      // ended because it was told to
)

// cause is a possible cause of a failure.
type cause struct {
	kind  causeKind
	rank  int // -1: none in particular
	at    time.Time
	phase string
	class string // of results.FailureKinds; "": it follows from kind and phase
	text  string
	log   *logFile
}

// failureKind is the results.Failure.Kind of a cause: before ranks are connected it follows from the phase, later from
// the cause.
func (c cause) failureKind() string {
	switch {
	case c.class != "":
		return c.class
	case c.kind == causeAgentEnded:
		return results.NodeLost
	case c.kind == causeDied:
		return results.Crashed
	case c.kind == causeProtocol:
		return results.Fault
	case c.phase == "start", c.phase == "ready":
		return results.FailedReady
	case c.phase == "connect":
		return results.FailedLink
	case c.kind == causeStopped, c.kind == causeStalled, c.kind == causeOverdue:
		return results.TimedOut
	case c.kind == causePeerMissing, c.kind == causeCancelled:
		return results.NodeLost
	}
	return results.Fault
}

// rootCause is the cause that takes precedence. Several overdue ranks are reported as one cause of no rank.
func rootCause(causes []cause) cause {
	best := causes[0]
	for _, c := range causes[1:] {
		if c.kind < best.kind || c.kind == best.kind && c.at.Before(best.at) {
			best = c
		}
	}
	same := 0
	for _, c := range causes {
		if c.kind == best.kind && c.phase == best.phase {
			same++
		}
	}
	if best.kind == causeOverdue && same > 1 {
		best.rank = -1
		best.text = fmt.Sprintf("%d ranks %s", same, best.text)
	}
	return best
}

func failedOutcome(k causeKind, f results.Failure) *Outcome {
	return &Outcome{Failure: &f, At: Moment(time.Now()), Kind: k}
}

// Lost is the outcome on a node with a lost agent.
func Lost(f results.Failure) *Outcome {
	f.Kind = results.NodeLost
	return failedOutcome(causeDied, f)
}

// exitCause describes the end of a process that did not report why, from its status and log.
func exitCause(p *os.ProcessState, log []string) string {
	if s, ok := signalOf(p); ok {
		return fmt.Sprintf("killed by signal %d (%s)", s, unix.SignalName(s))
	}
	if reason, ok := lastReason(log); ok {
		return fmt.Sprintf("exited with status %d: %s", p.ExitCode(), reason)
	}
	return fmt.Sprintf("exited with status %d without a message", p.ExitCode())
}

func signalOf(p *os.ProcessState) (syscall.Signal, bool) {
	status, ok := p.Sys().(syscall.WaitStatus)
	return status.Signal(), ok && status.Signaled()
}

// engineCause classifies an error of a rank's engine; class "": it follows from the phase.
func engineCause(e *engine.Error) (k causeKind, class, text string) {
	code := syscall.Errno(max(e.Code, -e.Code))
	text = strings.Join(lastLines([]byte(e.Error()), logLines), "\n")
	switch {
	case errors.Is(code, syscall.ECANCELED):
		return causeCancelled, "", text
	case e.Killed:
		return causeProgramKilled, "", text
	case e.Phase == engine.PhaseName(engine.PhaseStart): // a program did not start
		return causeFailed, results.FailedReady, text
	case errors.Is(code, syscall.EBADMSG): // verification failed
		return causeFailed, results.Wrong, text
	case errors.Is(code, syscall.ETIMEDOUT) && e.Phase != "ready" && e.Phase != "connect":
		return causePeer, results.TimedOut, text
	case e.Peer >= 0 && (errors.Is(code, syscall.ECONNRESET) || errors.Is(code, syscall.EPIPE)):
		return causePeerClosed, "", text
	case e.Peer >= 0, errors.Is(code, syscall.ETIMEDOUT):
		return causePeer, "", text
	}
	return causeFailed, "", text
}

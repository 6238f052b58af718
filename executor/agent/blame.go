package agent

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/results"
)

// kind orders the signs of trouble from cause to consequence. When one rank
// fails, the others soon do too, and often it is they who speak first: a peer's
// "connection reset" arrives before the kernel has reaped the process that died.
// So an agent collects the signs of all ranks and reports the one nearest to the
// cause; of equal signs the first.
type kind int

const (
	kindDied     kind = iota // killed by a signal that weir did not send, or left without a word
	kindStopped              // stopped by a signal
	kindGarbage              // broke the protocol
	kindFailed               // said what went wrong with itself
	kindSilent               // its loop stands still while others' move
	kindOverdue              // did not finish in time, and moves
	kindLeft                 // its agent ends, whatever the session wants
	kindPeer                 // complains about a peer, or about time running out
	kindForsaken             // complains that a peer has hung up, as one does that complains itself
	kindMissing              // another node's rank that was waited for
	kindTold                 // ended because it was told to
)

// suspect is one rank with a sign of trouble.
type suspect struct {
	kind  kind
	rank  int // -1: none in particular
	at    time.Time
	phase string
	class string // of results.FailureKinds, where it is known better than from kind and phase
	cause string
	log   *logFile
}

// failure classifies the suspect for results.Failure.Kind. Whatever keeps ranks
// from becoming ready or from connecting is a failure of that; later it matters
// whether the process died, time ran out, or the engine said what is wrong.
func (s suspect) failure() string {
	switch {
	case s.class != "":
		return s.class
	case s.kind == kindLeft:
		return results.NodeLost
	case s.kind == kindDied:
		return results.Crashed
	case s.kind == kindGarbage:
		return results.Fault
	case s.phase == "start", s.phase == "ready":
		return results.FailedReady
	case s.phase == "connect":
		return results.FailedLink
	case s.kind == kindStopped, s.kind == kindSilent, s.kind == kindOverdue:
		return results.TimedOut
	case s.kind == kindMissing, s.kind == kindTold:
		return results.NodeLost
	}
	return results.Fault
}

// judge picks the suspect that is nearest to the cause.
func judge(suspects []suspect) suspect {
	best := suspects[0]
	var alike []int // ranks with the same kind of sign as the best
	for _, s := range suspects[1:] {
		if s.kind < best.kind || s.kind == best.kind && s.at.Before(best.at) {
			best = s
		}
	}
	for _, s := range suspects {
		if s.kind == best.kind && s.phase == best.phase {
			alike = append(alike, s.rank)
		}
	}
	if best.kind == kindOverdue && len(alike) > 1 {
		best.rank = -1 // all of them move, none ends: nobody is to blame
		best.cause = fmt.Sprintf("%d ranks %s", len(alike), best.cause)
	}
	return best
}

func failed(k kind, f results.Failure) *Outcome {
	return &Outcome{Failure: &f, At: time.Now(), kind: k}
}

// Lost is the outcome on a node whose agent does not answer any more.
func Lost(f results.Failure) *Outcome {
	f.Kind = results.NodeLost
	return failed(kindDied, f)
}

// fromExit words the end of a process that did not tell its agent why it ends: at most its
// log does. One that was told to stop says so, so this is a sign of trouble even then.
func fromExit(p *os.ProcessState, log []string) string {
	if s, ok := signalOf(p); ok {
		return fmt.Sprintf("killed by signal %d (%s)", s, unix.SignalName(s))
	}
	if reason, ok := lastReason(log); ok {
		return fmt.Sprintf("exited with status %d: %s", p.ExitCode(), reason)
	}
	return fmt.Sprintf("exited with status %d without saying why", p.ExitCode())
}

// signalOf is the signal that ended a process, if one did.
func signalOf(p *os.ProcessState) (syscall.Signal, bool) {
	status, ok := p.Sys().(syscall.WaitStatus)
	return status.Signal(), ok && status.Signaled()
}

// fromEngine reads what a rank's engine said as a sign of trouble. The class is
// "" where the phase says it.
func fromEngine(e *engine.Error) (k kind, class, text string) {
	code := syscall.Errno(max(e.Code, -e.Code))
	text = strings.Join(lastLines([]byte(e.Error()), logLines), "\n")
	switch {
	case errors.Is(code, syscall.ECANCELED):
		return kindTold, "", text
	case e.Phase == engine.PhaseName(engine.PhaseStart): // of a program that the rank was to start
		return kindFailed, results.FailedReady, text
	case errors.Is(code, syscall.EBADMSG): // what was moved is not what was sent
		return kindFailed, results.Wrong, text
	case errors.Is(code, syscall.ETIMEDOUT) && e.Phase != "ready" && e.Phase != "connect":
		return kindPeer, results.TimedOut, text
	case e.Peer >= 0 && (errors.Is(code, syscall.ECONNRESET) || errors.Is(code, syscall.EPIPE)):
		return kindForsaken, "", text
	case e.Peer >= 0, errors.Is(code, syscall.ETIMEDOUT):
		return kindPeer, "", text
	}
	return kindFailed, "", text
}

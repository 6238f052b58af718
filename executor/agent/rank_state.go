package agent

import (
	"fmt"
	"time"

	"github.com/weir-bench/weir/engine"
)

// stage is the progress of a rank, according to its messages.
type stage int

const (
	starting   stage = iota // has not sent its address
	addressed               // waits for all addresses
	connecting              // has all addresses
	connected               // waits for the others
	running                 // in a case
	closing                 // has run all cases
	finished                // has sent Bye
)

// localRank is a rank of this node in a launch.
type localRank struct {
	*process
	rank        int
	stage       stage
	since       time.Time     // the start of the stage, or of the case
	next        int           // index of the current case
	life        engine.Life   // the cases of this process
	lives       []engine.Life // of the rank's later processes
	start       starter
	address     []byte
	ended       bool
	diedFirst   bool   // it had ended before SIGKILL was sent
	heartbeat   uint64 // last value of the counter
	heartbeatAt time.Time
	spent       map[string]time.Duration // in the case, by phase with a deadline
	spentUntil  time.Time                // of the last update of spent
}

// enter begins a stage, which counts as a heartbeat.
func (m *localRank) enter(s stage) {
	m.stage, m.since = s, time.Now()
	m.heartbeatAt, m.spentUntil = m.since, m.since
	m.spent = map[string]time.Duration{}
}

// update reads the rank's heartbeat and adds the time spent in its phase.
func (m *localRank) update(now time.Time) {
	if b := m.control.Heartbeat.Load(); b != m.heartbeat {
		m.heartbeat, m.heartbeatAt = b, now
	}
	if m.stage == running {
		m.spent[m.timedPhase()] += now.Sub(m.spentUntil)
	}
	m.spentUntil = now
}

// timedPhase is the phase with a deadline that a rank in a case is in: run or verify; "": none.
func (m *localRank) timedPhase() string {
	switch m.control.Phase.Load() {
	case engine.PhaseWarmup, engine.PhaseRun:
		return "run"
	case engine.PhaseVerify:
		return "verify"
	}
	return ""
}

// overdue reports whether the rank has missed a deadline, its limit, and what the rank did not do.
func (m *localRank) overdue(now time.Time, d Deadlines, t *assignment) (limit time.Duration, what string, passed bool) {
	if m.stage == running {
		switch {
		case d.Run > 0 && m.spent["run"] > d.Run:
			return d.Run, "did not get through warm-up and the timed part", true
		case d.Verify > 0 && m.spent["verify"] > d.Verify:
			return d.Verify, "did not verify what was moved", true
		}
	}
	limit, what = m.limit(d, t.launch, len(t.Ranks))
	return limit, what, now.Sub(m.since) > limit
}

func (m *localRank) phase() string {
	switch m.stage {
	case starting:
		return "ready"
	case addressed, connecting, connected:
		return "connect"
	case running:
		// ranks are not trusted: accept only phases of a case
		switch p := m.control.Phase.Load(); p {
		case engine.PhaseReady, engine.PhaseVerify, engine.PhaseWarmup, engine.PhaseRun, engine.PhaseCeiling:
			return engine.PhaseName(p)
		}
		return "run"
	}
	return "teardown"
}

// position describes the rank's case and iteration, to be appended to a cause.
func (m *localRank) position(cases []engine.Case) string {
	if m.stage != running || m.next >= len(cases) || cases[m.next].Key == "" {
		return "" // cases of services have no key
	}
	at := " in case " + cases[m.next].Key
	if total := m.control.Total.Load(); total > 0 {
		at += fmt.Sprintf(" at iteration %d of %d", m.control.Done.Load(), total)
	}
	return at
}

// failsAlone reports whether an error of the rank's own may have preceded the end of the launch even if it is read
// later: a peer can see a lost connection and report it first.
func (m *localRank) failsAlone() bool { return m.stage == connecting || m.stage == running }

// caseLimit bounds the rank's time in its case. In its first case it may have waited for the earlier ones.
func (m *localRank) caseLimit(l engine.Launch) (limit time.Duration) {
	from := m.next
	if m.next == m.life.First {
		from = 0
	}
	for _, c := range l.Cases[from : m.next+1] {
		limit += time.Duration(c.Timeout + c.Before)
	}
	return limit
}

// engineSlack is the time after the engine's deadline before the agent's, because the engine's error is more specific.
const engineSlack = 300 * time.Millisecond

// limit bounds the rank's time in its stage; what describes what it did not do in time.
func (m *localRank) limit(d Deadlines, l engine.Launch, ranks int) (time.Duration, string) {
	switch m.stage {
	case starting:
		return d.ready(l, ranks), "did not become ready"
	case addressed:
		return d.ready(l, ranks) + d.Connect, "did not learn the other ranks' addresses"
	case connecting:
		return d.Connect, "did not connect"
	case connected:
		return 2 * d.Connect, "was not told that all ranks are connected"
	case running:
		return m.caseLimit(l) + engineSlack, "did not finish"
	}
	return d.Teardown, "did not leave"
}

package agent

import (
	"fmt"
	"time"

	"weir/engine"
)

// stage is how far a rank has come, as its messages tell.
type stage int

const (
	starting   stage = iota // no address yet
	addressed               // waits for the others' addresses
	connecting              // has them
	connected               // waits for the others
	running                 // in a case
	closing                 // has no more cases
	left                    // has said that it is done
)

// member is a rank of this node in a launch.
type member struct {
	*process
	rank    int
	stage   stage
	since   time.Time     // when the stage, or the case in it, began
	next    int           // index of the case that it is in
	life    engine.Life   // the cases that its process runs
	lives   []engine.Life // of the rank's processes after it
	start   starter
	address []byte
	ended   bool
	fell    bool   // it had ended, though nobody had heard of it, before SIGKILL was sent
	beat    uint64 // the last heartbeat seen
	beatAt  time.Time
	spent   map[string]time.Duration // in the case, by the phase that has a deadline
	seenAt  time.Time                // until when that is counted
}

// enter begins a stage, which counts as movement.
func (m *member) enter(s stage) {
	m.stage, m.since = s, time.Now()
	m.beatAt, m.seenAt = m.since, m.since
	m.spent = map[string]time.Duration{}
}

// observe notes whether the rank's loop has moved.
func (m *member) observe(now time.Time) {
	if b := m.control.Heartbeat.Load(); b != m.beat {
		m.beat, m.beatAt = b, now
	}
	if m.stage == running {
		m.spent[m.timedPhase()] += now.Sub(m.seenAt)
	}
	m.seenAt = now
}

// timedPhase is the phase under whose deadline a rank in a case is: run, verify,
// or "" for phases that have none of their own.
func (m *member) timedPhase() string {
	switch m.control.Phase.Load() {
	case engine.PhaseWarmup, engine.PhaseRun:
		return "run"
	case engine.PhaseVerify:
		return "verify"
	}
	return ""
}

// late says whether the rank has passed a deadline, which, and what it fails to do.
func (m *member) late(now time.Time, d Deadlines, t *assignment) (limit time.Duration, what string, passed bool) {
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

// phase is the phase that a failure of the rank is reported under.
func (m *member) phase() string {
	switch m.stage {
	case starting:
		return "ready"
	case addressed, connecting, connected:
		return "connect"
	case running:
		// what the page says, if it can be true
		switch p := m.control.Phase.Load(); p {
		case engine.PhaseVerify, engine.PhaseWarmup, engine.PhaseRun, engine.PhaseCeiling:
			return engine.PhaseName(p)
		}
		return "run"
	}
	return "teardown"
}

// where says what the rank was doing, to follow a cause.
func (m *member) where(cases []engine.Case) string {
	if m.stage != running || m.next >= len(cases) || cases[m.next].Key == "" {
		return "" // a service has cases without a key
	}
	at := " in case " + cases[m.next].Key
	if total := m.control.Total.Load(); total > 0 {
		at += fmt.Sprintf(" at iteration %d of %d", m.control.Done.Load(), total)
	}
	return at
}

// caseLimit is how long the rank may be in its case. A rank that is started before its first case
// also waits for the cases before that one.
func (m *member) caseLimit(l engine.Launch) (limit time.Duration) {
	from := m.next
	if m.next == m.life.First {
		from = 0
	}
	for _, c := range l.Cases[from : m.next+1] {
		limit += time.Duration(c.Timeout + c.Before)
	}
	return limit
}

// engineSlack is how much longer an agent waits than the engine's own deadline:
// the engine knows better what it was waiting for.
const engineSlack = 300 * time.Millisecond

// limit is how long the rank may be in its stage, and what it fails to do.
func (m *member) limit(d Deadlines, l engine.Launch, ranks int) (time.Duration, string) {
	switch m.stage {
	case starting:
		return d.ready(l, ranks), "did not become ready"
	case addressed:
		return d.ready(l, ranks) + d.Connect, "did not learn the other ranks' addresses"
	case connecting:
		return d.Connect, "did not connect"
	case connected:
		return 2 * d.Connect, "did not hear that all are connected"
	case running:
		return m.caseLimit(l) + engineSlack, "did not finish"
	}
	return d.Teardown, "did not leave"
}

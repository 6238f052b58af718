package agent

import (
	"fmt"
	"sync"
	"time"

	"weir/executor/cluster"
)

// look is what the agent does at each tick: note who moves, act on deadlines.
// It is false when there is nothing more to wait for.
func (l *launch) look(now time.Time) bool {
	for _, m := range l.ranks {
		if !m.ended {
			m.observe(now)
		}
	}
	if !l.told.IsZero() {
		return l.hurry(now)
	}
	l.overdue(now)
	l.stalled(now)
	if l.told.IsZero() && l.started {
		l.progress()
	}
	return true
}

// unkillable is how long a process may outlive SIGKILL: it is then stuck inside
// the kernel, and waiting does not help.
const unkillable = 5 * time.Second

// unreaped is how long a process that is dead may stay in the process table: the
// machine may be busy, or one of its threads stuck inside the kernel.
const unreaped = 30 * time.Second

// hurry kills what does not stop in time.
func (l *launch) hurry(now time.Time) bool {
	switch {
	case l.killed.IsZero() && now.Sub(l.told) >= l.limits.Grace:
		l.killAll(now)
	case !l.killed.IsZero() && now.Sub(l.killed) >= unkillable:
		return !l.stuck(now)
	}
	return true
}

// stuck says whether waiting for the processes that were killed does not help,
// and notes of which.
func (l *launch) stuck(now time.Time) (any bool) {
	for _, m := range l.ranks {
		if m.ended {
			continue
		}
		switch s := m.state(); {
		case !dead(s):
			l.suspect(m, kindDied, fmt.Sprintf("cannot be killed: process %d is in state %c", m.pid, s))
			any = true
		case now.Sub(l.killed) >= unreaped:
			l.suspect(m, kindDied, fmt.Sprintf("was killed, but the end of process %d was not reported within %v",
				m.pid, unreaped))
			any = true
		}
	}
	return any
}

func (l *launch) killAll(now time.Time) {
	if l.told.IsZero() {
		l.stop(kindTold, "it was killed")
	}
	l.killed = now
	for _, m := range l.ranks {
		if !m.ended {
			m.fell = dead(m.state())
			m.kill()
		}
	}
}

// overdue ends the launch when a rank has passed its deadline.
func (l *launch) overdue(now time.Time) {
	var late []*member
	for _, m := range l.ranks {
		if _, _, passed := m.late(now, l.limits, l.task); !m.ended && passed {
			late = append(late, m)
		}
	}
	if len(late) == 0 {
		return
	}
	l.inspect(now)
	missing := sync.OnceValue(l.missing)
	for _, m := range late {
		l.add(l.lateness(now, m, missing))
	}
	l.tellStop()
}

func (l *launch) lateness(now time.Time, m *member, missing func() *cluster.MissingError) suspect {
	limit, what, _ := m.late(now, l.limits, l.task)
	cause := fmt.Sprintf("%s within %v%s", what, limit.Round(time.Millisecond), m.where(l.task.launch.Cases))
	switch m.stage {
	case starting:
		return l.about(m, kindSilent, cause) // ranks become ready each on its own: nobody else can be the cause
	case addressed, connected:
		s := l.about(m, kindMissing, cause)
		if who := missing(); who != nil {
			s.rank, s.cause, s.log = who.Ranks[0], who.Error(), nil
		}
		return s
	}
	return l.about(m, kindOverdue, cause)
}

// stalled ends the launch when one rank's loop stands still and others' move.
func (l *launch) stalled(now time.Time) {
	if !l.started {
		return
	}
	var still []*member
	moving := false
	for _, m := range l.ranks {
		switch age := now.Sub(m.beatAt); {
		case m.ended || m.stage != running:
		case age >= l.limits.Stall:
			still = append(still, m)
		case age < 2*tick:
			moving = true
		}
	}
	if len(still) == 0 || !moving {
		return
	}
	l.inspect(now)
	for _, m := range still {
		l.add(l.about(m, kindSilent, fmt.Sprintf("hangs: its loop has stood still for %v%s",
			now.Sub(m.beatAt).Round(100*time.Millisecond), m.where(l.task.launch.Cases))))
	}
	l.tellStop()
}

// inspect looks at all ranks when there is trouble, before they are told to stop
// and nobody can tell any more who caused it.
func (l *launch) inspect(now time.Time) {
	if !l.told.IsZero() {
		return
	}
	moving := false
	for _, m := range l.ranks {
		moving = moving || !m.ended && now.Sub(m.beatAt) < 2*tick
	}
	for _, m := range l.ranks {
		if m.ended {
			continue
		}
		switch s := m.state(); {
		case s == 'T' || s == 't':
			l.add(l.about(m, kindStopped, "hangs: it was stopped by a signal (SIGSTOP, or a debugger)"+
				m.where(l.task.launch.Cases)))
		case (m.stage == running || m.stage == connecting) && moving && now.Sub(m.beatAt) > 5*tick:
			l.add(l.about(m, kindSilent, fmt.Sprintf("hangs: its loop has stood still for %v%s",
				now.Sub(m.beatAt).Round(100*time.Millisecond), m.where(l.task.launch.Cases))))
		}
	}
}

func (l *launch) about(m *member, k kind, cause string) suspect {
	return suspect{kind: k, rank: m.rank, at: time.Now(), phase: m.phase(), cause: cause, log: m.log}
}

func (l *launch) add(s suspect) { l.suspects = append(l.suspects, s) }

// suspect notes a sign of trouble with a rank and ends the launch.
func (l *launch) suspect(m *member, k kind, cause string) {
	l.blame(l.about(m, k, cause))
}

func (l *launch) blame(s suspect) {
	l.inspect(s.at)
	l.add(s)
	l.tellStop()
}

// stop ends the launch for a reason that is no rank's.
func (l *launch) stop(k kind, cause string) {
	phase := "ready"
	if len(l.ranks) > 0 {
		phase = l.ranks[0].phase()
	}
	l.add(suspect{kind: k, rank: -1, at: time.Now(), phase: phase, cause: cause})
	l.tellStop()
}

// tellStop tells all ranks to stop, here and on other nodes.
func (l *launch) tellStop() {
	if !l.told.IsZero() {
		return
	}
	l.told = time.Now()
	for _, m := range l.ranks {
		m.control.Abort.Store(1)
		m.stopTelling()
	}
	if len(l.task.Ranks) == l.task.launch.Ranks {
		return
	}
	cause := l.hidden.Text(l.suspects[len(l.suspects)-1].cause)
	l.wg.Go(func() { l.a.abort(l.id, cause) })
}

// progress reports the rank that has come least far. One that only serves, and
// so counts nothing, says nothing of how far the others are.
func (l *launch) progress() {
	var slowest *member
	for _, m := range l.ranks {
		if slowest == nil || slowest.stage != running {
			slowest = m
		}
		if m.stage != running {
			continue // it has ended before the others, or is not there yet
		}
		counts, counted := m.control.Total.Load() > 0, slowest.control.Total.Load() > 0
		behind := m.control.Done.Load() < slowest.control.Done.Load()
		if m.next < slowest.next || m.next == slowest.next && (counts && !counted || counts == counted && behind) {
			slowest = m
		}
	}
	if slowest.stage != running {
		return
	}
	c := slowest.control
	l.a.report(Report{Task: l.id, Progress: &Progress{
		Case: slowest.next, Phase: slowest.phase(),
		Done: c.Done.Load(), Total: c.Total.Load(), Rate: float64(c.Rate.Load()),
	}})
}

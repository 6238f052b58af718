package agent

import (
	"fmt"
	"time"
)

// onTick updates the state of ranks and checks deadlines. It returns false when waiting for ranks is useless.
func (l *nodeLaunch) onTick(now time.Time) bool {
	for _, m := range l.ranks {
		if !m.ended {
			m.update(now)
		}
	}
	if !l.stopSent.IsZero() {
		return l.enforceStop(now)
	}
	l.checkDeadlines(now)
	l.checkStalls(now)
	if l.stopSent.IsZero() && l.started {
		l.reportProgress()
	}
	return true
}

const (
	unkillable = 5 * time.Second  // after SIGKILL, a process that still runs is stuck in the kernel
	unreaped   = 30 * time.Second // after SIGKILL, the end of a dead process is not awaited any more
)

func (l *nodeLaunch) enforceStop(now time.Time) bool {
	switch {
	case l.killSent.IsZero() && now.Sub(l.stopSent) >= l.limits.Grace:
		l.killAll(now)
	case !l.killSent.IsZero() && now.Sub(l.killSent) >= unkillable:
		return !l.unkillableRanks(now)
	}
	return true
}

// unkillableRanks records ranks that survived SIGKILL or were not reaped, and returns whether there are any.
func (l *nodeLaunch) unkillableRanks(now time.Time) (any bool) {
	for _, m := range l.ranks {
		if m.ended {
			continue
		}
		switch s := m.state(); {
		case !dead(s):
			l.fail(m, causeDied, fmt.Sprintf("cannot be killed: process %d is in state %c", m.pid, s))
			any = true
		case now.Sub(l.killSent) >= unreaped:
			l.fail(m, causeDied, fmt.Sprintf("was killed, but the end of process %d was not reported within %v",
				m.pid, unreaped))
			any = true
		}
	}
	return any
}

func (l *nodeLaunch) killAll(now time.Time) {
	if l.stopSent.IsZero() {
		l.stop(causeCancelled, "it was killed")
	}
	l.killSent = now
	for _, m := range l.ranks {
		if !m.ended {
			m.diedFirst = dead(m.state())
			m.kill()
		}
	}
}

func (l *nodeLaunch) checkDeadlines(now time.Time) {
	var late []*localRank
	for _, m := range l.ranks {
		if _, _, passed := m.overdue(now, l.limits, l.task); !m.ended && passed {
			late = append(late, m)
		}
	}
	if len(late) == 0 {
		return
	}
	l.findHung(now)
	for _, m := range late {
		l.add(l.overdueCause(now, m))
	}
	l.sendStop()
}

func (l *nodeLaunch) overdueCause(now time.Time, m *localRank) cause {
	limit, what, _ := m.overdue(now, l.limits, l.task)
	cause := fmt.Sprintf("%s within %v%s", what, limit.Round(time.Millisecond), m.position(l.task.launch.Cases))
	switch m.stage {
	case starting:
		return l.causeOf(m, causeStalled, cause) // ranks become ready independently
	case addressed, connected: // the session knows the missing ranks
		return l.causeOf(m, causePeerMissing, cause)
	}
	return l.causeOf(m, causeOverdue, cause)
}

// checkStalls ends the launch when the loops of some ranks stand still while others move.
func (l *nodeLaunch) checkStalls(now time.Time) {
	if !l.started {
		return
	}
	var still []*localRank
	moving := false
	for _, m := range l.ranks {
		switch age := now.Sub(m.heartbeatAt); {
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
	l.findHung(now)
	for _, m := range still {
		l.addStalled(now, m)
	}
	l.sendStop()
}

func (l *nodeLaunch) addStalled(now time.Time, m *localRank) {
	l.add(l.causeOf(m, causeStalled, fmt.Sprintf("hangs: its loop has stood still for %v%s",
		now.Sub(m.heartbeatAt).Round(100*time.Millisecond), m.position(l.task.launch.Cases))))
}

// findHung adds hung ranks as causes when a launch fails, before ranks are told to stop, which hides the cause.
func (l *nodeLaunch) findHung(now time.Time) {
	if !l.stopSent.IsZero() {
		return
	}
	moving := false
	for _, m := range l.ranks {
		moving = moving || !m.ended && now.Sub(m.heartbeatAt) < 2*tick
	}
	for _, m := range l.ranks {
		if m.ended {
			continue
		}
		switch s := m.state(); {
		case s == 'T' || s == 't':
			l.add(l.causeOf(m, causeStopped, "hangs: it was stopped by a signal (SIGSTOP, or a debugger)"+
				m.position(l.task.launch.Cases)))
		case (m.stage == running || m.stage == connecting) && moving && now.Sub(m.heartbeatAt) > 5*tick:
			l.addStalled(now, m)
		}
	}
}

func (l *nodeLaunch) causeOf(m *localRank, k causeKind, text string) cause {
	return cause{kind: k, rank: m.rank, at: time.Now(), phase: m.phase(), text: text, log: m.log}
}

func (l *nodeLaunch) add(s cause) { l.causes = append(l.causes, s) }

// fail adds a cause and ends the launch.
func (l *nodeLaunch) fail(m *localRank, k causeKind, cause string) {
	l.failWith(l.causeOf(m, k, cause))
}

func (l *nodeLaunch) failWith(s cause) {
	l.findHung(s.at)
	l.add(s)
	l.sendStop()
}

// stop ends the launch because of a cause of no rank.
func (l *nodeLaunch) stop(k causeKind, text string) {
	phase := "ready"
	if len(l.ranks) > 0 {
		phase = l.ranks[0].phase()
	}
	l.add(cause{kind: k, rank: -1, at: time.Now(), phase: phase, text: text})
	l.sendStop()
}

// sendStop tells all ranks to stop, also on other nodes.
func (l *nodeLaunch) sendStop() {
	if !l.stopSent.IsZero() {
		return
	}
	l.stopSent = time.Now()
	for _, m := range l.ranks {
		m.control.Abort.Store(1)
		m.closeWrite()
	}
	if l.onOneNode() {
		return
	}
	cause := l.hidden.Text(l.causes[len(l.causes)-1].text)
	l.wg.Go(func() { l.a.report(Report{Task: l.id, Failing: cause}) })
}

// reportProgress reports the rank that has made the least progress. Passive ranks, which count no iterations, come
// after those that count.
func (l *nodeLaunch) reportProgress() {
	var slowest *localRank
	for _, m := range l.ranks {
		if slowest == nil || slowest.stage != running {
			slowest = m
		}
		if m.stage != running {
			continue // it has finished, or not begun
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

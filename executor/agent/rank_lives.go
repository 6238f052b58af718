package agent

import (
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/workload"
)

// Ranks with several processes, one after the other, in a launch: see engine.Changing.

// starter starts a process of a rank, and completes the identity that it gets.
type starter func(self engine.Identity) (*process, engine.Identity, error)

func (l *nodeLaunch) startFirst(i int, start starter) error {
	rank := l.task.Ranks[i]
	m := &localRank{rank: rank, start: start, life: engine.Life{Last: len(l.task.launch.Cases) - 1}}
	if l.lives != nil {
		m.life, m.lives = l.lives[rank][0], l.lives[rank][1:]
		l.reportAbsent(m, 0, m.life.First)
	}
	return l.startInto(m, func() { l.ranks = append(l.ranks, m) })
}

// startInto starts the process of a rank, and calls place to store it.
func (l *nodeLaunch) startInto(m *localRank, place func()) error {
	self := engine.Identity{Rank: m.rank}
	if l.lives != nil {
		self.Life, m.next = &m.life, m.life.First
	}
	p, self, err := m.start(self)
	if err != nil {
		return err
	}
	m.process = p
	m.enter(starting)
	place()
	l.sendLaunch(m, self)
	return nil
}

func (l *nodeLaunch) startNext(m *localRank) {
	if l.lives == nil || !l.stopSent.IsZero() {
		return
	}
	if len(m.lives) == 0 {
		l.reportAbsent(m, m.life.Last+1, len(l.task.launch.Cases))
		return
	}
	n := &localRank{rank: m.rank, start: m.start, life: m.lives[0], lives: m.lives[1:]}
	l.reportAbsent(m, m.life.Last+1, n.life.First)
	if err := l.startInto(n, func() {
		l.ranks[slices.Index(l.ranks, m)] = n
		l.replaced = append(l.replaced, m)
	}); err != nil {
		l.failWith(startCause(m.rank, err))
	}
}

// reportAbsent reports that a rank has no process in cases [from, until).
func (l *nodeLaunch) reportAbsent(m *localRank, from, until int) {
	for _, c := range l.task.launch.Cases[from:until] {
		l.a.report(Report{Task: l.id, Result: &Result{Part: &workload.Part{Key: c.Key, Rank: m.rank, Absent: true}}})
	}
}

// killedAsPlanned reports a process that has killed itself, as the launch requires; false: it did not.
func (l *nodeLaunch) killedAsPlanned(m *localRank, p *os.ProcessState) bool {
	signal, signalled := signalOf(p)
	if !m.life.Killed || m.stage != running || m.next != m.life.Last || !signalled || signal != syscall.SIGKILL {
		return false
	}
	at := m.control.Ending.Load()
	if at == 0 {
		return false // another process killed it
	}
	l.a.report(Report{Task: l.id, Result: &Result{Part: &workload.Part{
		Key: l.task.launch.Cases[m.next].Key, Rank: m.rank, Ended: &workload.Ended{Signal: int(signal), At: at},
	}}})
	m.stage, m.since = finished, time.Now()
	return true
}

// rankOf is the rank with this process; nil: it has another process now.
func (l *nodeLaunch) rankOf(p *process) *localRank {
	if i := slices.IndexFunc(l.ranks, func(m *localRank) bool { return m.process == p }); i >= 0 {
		return l.ranks[i]
	}
	return nil
}

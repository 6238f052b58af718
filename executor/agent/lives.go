package agent

import (
	"os"
	"slices"
	"syscall"
	"time"

	"weir/engine"
	"weir/workload"
)

// Ranks whose processes come and go while the launch goes on, where its runner says so: see
// engine.Changing.

// starter starts a process of a rank, and says what it is told about itself.
type starter func(self engine.Identity) (*process, engine.Identity, error)

// begin starts the first process of the node's i-th rank of the launch.
func (l *launch) begin(i int, start starter) error {
	rank := l.task.Ranks[i]
	m := &member{rank: rank, start: start, life: engine.Life{Last: len(l.task.launch.Cases) - 1}}
	if l.lives != nil {
		m.life, m.lives = l.lives[rank][0], l.lives[rank][1:]
		l.absent(m, 0, m.life.First)
	}
	return l.bring(m, func() { l.ranks = append(l.ranks, m) })
}

// bring starts the process of a member, and puts it into its place.
func (l *launch) bring(m *member, place func()) error {
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
	l.tellLaunch(m, self)
	return nil
}

// succeed starts the next process of a rank whose process has ended.
func (l *launch) succeed(m *member) {
	if l.lives == nil || !l.told.IsZero() {
		return
	}
	if len(m.lives) == 0 {
		l.absent(m, m.life.Last+1, len(l.task.launch.Cases))
		return
	}
	n := &member{rank: m.rank, start: m.start, life: m.lives[0], lives: m.lives[1:]}
	l.absent(m, m.life.Last+1, n.life.First)
	if err := l.bring(n, func() {
		l.ranks[slices.Index(l.ranks, m)] = n
		l.former = append(l.former, m)
	}); err != nil {
		l.blame(notStarted(m.rank, err))
	}
}

// absent reports that a rank has no process in the cases from one to before another.
func (l *launch) absent(m *member, from, until int) {
	for _, c := range l.task.launch.Cases[from:until] {
		l.a.report(Report{Task: l.id, Result: &Result{Part: &workload.Part{Key: c.Key, Rank: m.rank, Absent: true}}})
	}
}

// endedAsSaid says whether the launch says that the process ends in this way and here, and
// reports it: what killed it was itself.
func (l *launch) endedAsSaid(m *member, p *os.ProcessState) bool {
	signal, signalled := signalOf(p)
	if !m.life.Killed || m.stage != running || m.next != m.life.Last || !signalled || signal != syscall.SIGKILL {
		return false
	}
	at := m.control.Ending.Load()
	if at == 0 {
		return false // another one killed it
	}
	l.a.report(Report{Task: l.id, Result: &Result{Part: &workload.Part{
		Key: l.task.launch.Cases[m.next].Key, Rank: m.rank, Ended: &workload.Ended{Signal: int(signal), At: at},
	}}})
	m.stage, m.since = left, time.Now()
	return true
}

// memberOf is the member with a process; nil: another has its place.
func (l *launch) memberOf(p *process) *member {
	for _, m := range l.ranks {
		if m.process == p {
			return m
		}
	}
	return nil
}

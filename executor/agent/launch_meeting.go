package agent

import (
	"context"
	"slices"
	"time"

	"weir/executor/cluster"
	"weir/executor/wire"
)

// every says whether all ranks of this node have come to a stage.
func (l *launch) every(s stage) bool {
	return len(l.ranks) == len(l.task.Ranks) &&
		!slices.ContainsFunc(l.ranks, func(m *member) bool { return m.stage < s })
}

func (l *launch) publish() error {
	if l.published || !l.every(addressed) {
		return nil
	}
	l.published = true
	addresses := map[int][]byte{}
	for _, m := range l.ranks {
		addresses[m.rank] = m.address
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.limits.Connect)
	defer cancel()
	if err := l.meeting.Publish(ctx, addresses); err != nil {
		l.stop(kindMissing, err.Error())
	}
	return nil
}

func (l *launch) arrive() error {
	if l.arrived || !l.every(connected) {
		return nil
	}
	l.arrived = true
	ctx, cancel := context.WithTimeout(l.ctx, l.limits.Connect)
	defer cancel()
	if err := l.meeting.Arrive(ctx); err != nil {
		l.stop(kindMissing, err.Error())
	}
	return nil
}

// news acts on what other nodes have said.
func (l *launch) news() {
	if err := l.meeting.Broken(); err != nil {
		l.stop(kindMissing, err.Error())
		return
	}
	if reason, ok := l.meeting.Aborted(); ok {
		l.stop(kindTold, reason)
		return
	}
	if all := l.meeting.Addresses(); all != nil && !l.introduced && l.every(addressed) {
		l.introduced = true
		l.meeting.Passed()
		if l.lives != nil {
			l.peers = all
		}
		for _, m := range l.ranks {
			m.enter(connecting)
			m.tell(wire.KindPeers, all)
		}
	}
	if l.arrived && !l.started && l.meeting.Started() {
		l.started = true
		for _, m := range l.ranks {
			m.enter(running)
			m.tell(wire.KindGo, nil)
		}
		now := time.Now()
		l.a.report(Report{Task: l.id, Running: &now})
	}
}

// missing is who the launch waits for elsewhere, nil if for nobody, or if etcd does not
// say.
func (l *launch) missing() *cluster.MissingError {
	ctx, cancel := context.WithTimeout(l.ctx, askTime)
	defer cancel()
	m, _ := l.meeting.Missing(ctx)
	return m
}

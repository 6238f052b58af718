package agent

import (
	"slices"
	"time"

	"github.com/weir-bench/weir/executor/wire"
)

func (l *nodeLaunch) allAt(s stage) bool {
	return len(l.ranks) == len(l.task.Ranks) &&
		!slices.ContainsFunc(l.ranks, func(m *localRank) bool { return m.stage < s })
}

// onOneNode reports whether all ranks of the launch are on this node, which then connects them without the session.
func (l *nodeLaunch) onOneNode() bool { return len(l.task.Ranks) == l.task.launch.Ranks }

func (l *nodeLaunch) reportAddresses() {
	if l.addressesReported || !l.allAt(addressed) {
		return
	}
	l.addressesReported = true
	addresses := map[int][]byte{}
	for _, m := range l.ranks {
		addresses[m.rank] = m.address
	}
	if !l.onOneNode() {
		l.a.report(Report{Task: l.id, Addresses: encodeAddresses(addresses)})
		return
	}
	all := []byte{}
	for rank := range l.task.launch.Ranks {
		all = wire.AppendPeer(all, addresses[rank])
	}
	l.rendezvous.handle(Order{Peers: all})
}

func (l *nodeLaunch) reportConnected() {
	switch {
	case l.connectedReported || !l.allAt(connected):
		return
	case l.onOneNode():
		l.rendezvous.handle(Order{Go: true})
	default:
		l.a.report(Report{Task: l.id, Connected: true})
	}
	l.connectedReported = true
}

func (l *nodeLaunch) onRendezvous() {
	begin, abort := l.rendezvous.state()
	if abort != "" {
		l.stop(causeCancelled, abort)
		return
	}
	if !l.peersSent && l.allAt(addressed) {
		all, err := l.rendezvous.addresses(l.task.launch.Ranks)
		switch {
		case err != nil:
			l.stop(causePeerMissing, err.Error())
			return
		case all != nil:
			l.sendPeers(all)
		}
	}
	if l.connectedReported && !l.started && begin {
		l.started = true
		for _, m := range l.ranks {
			m.enter(running)
			m.queue(wire.KindGo, nil)
		}
		l.a.report(Report{Task: l.id, Running: new(Moment(time.Now()))})
	}
}

func (l *nodeLaunch) sendPeers(all []byte) {
	l.peersSent = true
	if l.lives != nil {
		l.peers = all
	}
	for _, m := range l.ranks {
		m.enter(connecting)
		m.queue(wire.KindPeers, all)
	}
}

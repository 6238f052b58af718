package ep

import (
	"cmp"
	"slices"
)

func (p *planner) dispatch() {
	d := &p.Parts[0]
	d.Steps = p.t.Tokens[p.self]
	mine := p.arrivals(p.self, -1)
	switch {
	case p.s.Posts():
		p.stage(d, mine)
	case p.s.Layout == "packed":
		p.packBlocks(d, mine)
	default:
		p.postMessages(d, mine)
	}
	for source := range p.t.Ranks {
		for _, a := range p.arrivals(source, p.self) {
			p.Come = append(p.Come, a.Place)
		}
	}
}

// stage copies each message to a place of its own, in the order of its destination, so that one put has all messages
// that lie together there.
func (p *planner) stage(d *Operation, mine []arrival) {
	for _, peer := range p.next() {
		list := slices.DeleteFunc(slices.Clone(mine), func(a arrival) bool { return a.to != peer })
		slices.SortFunc(list, func(a, b arrival) int { return cmp.Compare(a.At, b.At) })
		for _, a := range list {
			p.Copies = append(p.Copies, Copy{a.Token, p.Source})
			d.add(Put{Peer: peer, Ready: d.Steps, Bytes: p.s.MessageRoom(), Local: p.Source, Remote: a.At})
			p.Source += p.s.MessageRoom()
		}
		p.From[peer] = p.Source
		d.add(Put{
			Peer: peer, Ready: d.Steps, Bytes: 4 * p.s.PerRank, Local: p.Source, Remote: p.countsAt(p.self, peer),
		})
		p.Source += p.s.CountBytes()
	}
	slices.SortStableFunc(p.Copies, func(a, b Copy) int { return cmp.Compare(a.Token, b.Token) })
}

// packBlocks makes a block for each peer, sent by one put: its messages, then its counts.
func (p *planner) packBlocks(d *Operation, mine []arrival) {
	begin := make([]int64, p.t.Ranks)
	for _, peer := range p.next() {
		begin[peer] = p.Source
		p.From[peer] = p.Source + p.rowsOf(p.self, peer)*p.s.MessageRoom()
		bytes := p.rowsOf(p.self, peer)*p.s.MessageRoom() + 4*p.s.PerRank
		d.Puts = append(d.Puts, Put{
			Peer: peer, Ready: d.Steps, Bytes: bytes, Local: p.Source, Remote: p.blockAt(p.self, peer),
		})
		p.Source += up(bytes, 128)
	}
	for _, a := range mine {
		p.Copies = append(p.Copies, Copy{a.Token, begin[a.to] + a.slot*p.s.MessageRoom()})
	}
}

// postMessages sends each message on its own, from one copy of it, and the counts after them.
func (p *planner) postMessages(d *Operation, mine []arrival) {
	begin := p.Source
	p.Source += up(int64(p.t.Tokens[p.self])*p.s.MessageRoom(), 128)
	for i, a := range mine {
		at := begin + int64(a.Token)*p.s.MessageRoom()
		if i == 0 || mine[i-1].Token != a.Token {
			p.Copies = append(p.Copies, Copy{a.Token, at})
		}
		d.Puts = append(d.Puts, Put{Peer: a.to, Ready: a.Token + 1, Bytes: p.s.MessageBytes(), Local: at, Remote: a.At})
	}
	for _, peer := range p.next() {
		p.From[peer] = p.Source
		p.Source += p.s.CountBytes()
		d.Puts = append(d.Puts, Put{
			Peer: peer, Ready: d.Steps, Bytes: 4 * p.s.PerRank, Local: p.From[peer], Remote: p.countsAt(p.self, peer),
		})
	}
}

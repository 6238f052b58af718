package ep

func (p *planner) dispatch() {
	d := &p.Parts[0]
	d.Steps = p.t.Tokens[p.self]
	mine := p.arrivals(p.self, -1)
	if p.s.Layout == "packed" {
		p.packBlocks(d, mine)
	} else {
		p.postMessages(d, mine)
	}
	for source := range p.t.Ranks {
		for _, a := range p.arrivals(source, p.self) {
			p.Come = append(p.Come, a.Place)
		}
	}
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

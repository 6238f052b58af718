package ep

import "github.com/weir-bench/weir/workload/ep/routing"

func (p *planner) combine() {
	c, begin, out := &p.Parts[1], up(p.Source, 4096), p.s.outputBytes()
	p.Source = begin
	if p.s.Layout == "rank" {
		p.combinePartial(c)
	} else {
		p.combineRows(c)
	}
	p.Source = up(p.Source, 128)
	for source := range p.t.Ranks { // by rank of the experts
		made := p.madeBefore(source)
		for i, a := range p.arrivals(p.self, source) {
			at := p.backAt(a)
			if p.s.Pulls() {
				at = (made + int64(i)) * out
			}
			p.Back = append(p.Back, Place{Rank: p.self, Token: a.Token, K: a.K, At: at})
		}
	}
	total := &p.Sums[1]
	back := map[[2]int]int64{} // by token and selection
	for _, b := range p.Back {
		back[[2]int{b.Token, b.K}] = b.At
	}
	for token := range p.t.Tokens[p.self] {
		sum := Sum{To: int64(token) * out, First: len(total.Terms)}
		for k := range p.t.TopK {
			at, is := back[[2]int{token, k}]
			if !is {
				continue
			}
			weight := p.t.Weights[p.self][token*p.t.TopK+k]
			if p.s.Layout == "rank" {
				weight = 1 // ranks have applied the weights
			}
			total.Terms = append(total.Terms, Term{at, weight})
		}
		sum.N = len(total.Terms) - sum.First
		total.List = append(total.List, sum)
	}
}

// backAt returns the offset where the row of a selection arrives at the rank of its token.
func (p *planner) backAt(a arrival) int64 {
	if p.s.Layout == "message" || p.s.Layout == "rank" && !p.s.Posts() {
		return int64(a.Token*p.t.TopK+a.K) * p.s.outputBytes()
	}
	rows := int64(0)
	for rank := range a.to {
		rows += p.rowsOf(a.Rank, rank)
	}
	return (rows + a.slot) * p.s.outputBytes()
}

// madeBefore returns the number of rows that a rank's experts make before those of this rank's tokens. A rank begins
// with the rows of the next rank, and ends with its own.
func (p *planner) madeBefore(rank int) (rows int64) {
	for i := 1; (rank+i)%p.t.Ranks != p.self; i++ {
		rows += p.rowsOf((rank+i)%p.t.Ranks, rank)
	}
	return rows
}

// combineRows sends each expert's row on its own, or with layout packed all rows for a rank in one put.
func (p *planner) combineRows(c *Operation) {
	out := p.s.outputBytes()
	for _, owner := range p.next() {
		block := p.Source
		var first int64
		list := p.arrivals(owner, p.self)
		for i, a := range list {
			p.Made = append(p.Made, Place{Rank: owner, Token: a.Token, K: a.K, At: p.Source})
			if i == 0 {
				first = p.backAt(a)
			}
			put := Put{Peer: owner, Bytes: out, Local: p.Source, Remote: p.backAt(a)}
			switch {
			case p.s.Posts():
				c.add(put)
			case p.s.Layout != "packed" && !p.s.Pulls():
				c.Puts = append(c.Puts, put)
			}
			p.Source += out
		}
		if p.s.Layout == "packed" && !p.s.Posts() && len(list) > 0 {
			c.Puts = append(c.Puts, Put{Peer: owner, Bytes: int64(len(list)) * out, Local: block, Remote: first})
		}
	}
}

// combinePartial adds up the rows of this rank's experts for a token, and sends the sum. Where the host posts for
// kernels, the sums lie together, and one put has those of a peer.
func (p *planner) combinePartial(c *Operation) {
	out, partial, sent := p.s.outputBytes(), &p.Sums[0], []arrival(nil)
	for _, owner := range p.next() {
		for _, a := range p.arrivals(owner, p.self) {
			sum := Sum{First: len(partial.Terms)}
			for k := range p.t.TopK {
				if expert := p.t.Selection(owner, a.Token, k); expert != routing.Masked &&
					p.t.RankOf(expert) == p.self {
					p.Made = append(p.Made, Place{Rank: owner, Token: a.Token, K: k, At: p.Source})
					partial.Terms = append(partial.Terms, Term{p.Source, p.t.Weights[owner][a.Token*p.t.TopK+k]})
					p.Source += out
				}
			}
			sum.N = len(partial.Terms) - sum.First
			if sum.To = p.Source; !p.s.Posts() {
				p.Source += out
			}
			partial.List, sent = append(partial.List, sum), append(sent, a)
		}
	}
	for i, a := range sent {
		sum := &partial.List[i]
		put := Put{Peer: a.Rank, Ready: i + 1, Bytes: out, Local: sum.To, Remote: p.backAt(a)}
		if !p.s.Posts() {
			c.Puts = append(c.Puts, put)
			continue
		}
		sum.To, put.Local = p.Source, p.Source
		c.add(put)
		p.Source += out
	}
	c.Steps = len(partial.List)
}

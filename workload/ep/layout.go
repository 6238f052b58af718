package ep

import (
	"math"

	"weir/routing"
)

// Layout says what one rank sends from where to where, and what comes to it. All offsets are in
// bytes: in the rank's source, and in a half of an operation's part of a sink. Parts are as large
// in all ranks, so a place is the same whoever's it is.
type Layout struct {
	Table  *routing.Table
	Source int64        // bytes
	Parts  [2]Operation // of dispatch and of combine
	Copies []Copy       // of messages in the source, by token
	Come   []Place      // messages that come
	Made   []Place      // rows of this rank's experts, in the source
	Back   []Place      // rows that come back
	Sums   [2]Sums      // partial ones before a combine (layout rank), and those of tokens
	Counts []uint32     // by peer: messages for each of its experts from this rank; then by source for this rank's
	From   []int64      // by peer: where its counts are in the source
	At     []int64      // by source: where its counts are in dispatch's half

	received int64
}

// Operation is an operation.
type Operation struct {
	Puts       []Put
	Steps      int   // before the last put: tokens to quantise, or sums to make
	Sink, Half int64 // where its first half begins in a sink, and the bytes of a half
}

// Put is a request: bytes from this rank's source to the half of a peer, or its own.
type Put struct {
	Peer, Ready          int // Ready: steps that must be done before
	Bytes, Local, Remote int64
}

// Copy is a token's message, at a place.
type Copy struct {
	Token int
	At    int64
}

// Place is a message or a row of a selection. Rank is the token's, At where it is.
type Place struct {
	Rank, Token, K int
	At             int64
}

// Sums are rows that are added up.
type Sums struct {
	List  []Sum
	Terms []Term
}

// Sum is of N terms from First on.
type Sum struct {
	To       int64
	First, N int
}

// Term is a row with its weight.
type Term struct {
	At     int64
	Weight float32
}

// planner works a layout out.
type planner struct {
	*Layout
	s    *Spec
	t    *routing.Table
	self int
	// slot is the number of a selection's message among those of its source at its destination
	// (layout packed), of its source and expert (message), or of its token (rank).
	perPair, distinct [][]int // by source and destination
	perExpert         [][]int // by expert and source
}

// LayOut works out what a rank does with routes.
func (s *Spec) LayOut(t *routing.Table, self int) *Layout {
	a := t.Amounts()
	p := &planner{Layout: &Layout{Table: t}, s: s, t: t, self: self, perPair: a.Pairs, distinct: a.Distinct, perExpert: make([][]int, t.All())}
	for e := range p.perExpert {
		p.perExpert[e] = make([]int, t.Ranks)
	}
	for rank, list := range t.Experts {
		for _, e := range list {
			if e != routing.Masked {
				p.perExpert[e][rank]++
			}
		}
	}
	p.sizeParts()
	p.count()
	if s.Dispatches() {
		p.dispatch()
	}
	if s.Combines() {
		p.combine()
	}
	p.Source = up(p.Source, 4096)
	p.received = int64(len(p.Come))*s.MessageBytes() + int64(len(p.Back))*s.outputBytes()
	if s.Dispatches() {
		p.received += int64(t.Ranks) * 4 * s.PerRank
	}
	if s.Combines() {
		p.received += int64(t.Tokens[self]) * s.outputBytes()
	}
	return p.Layout
}

// rowsOf are the messages from a source to a destination.
func (p *planner) rowsOf(from, to int) int64 {
	if p.s.Layout == "rank" {
		return int64(p.distinct[from][to])
	}
	return int64(p.perPair[from][to])
}

// sizeParts gives each operation's halves the bytes that the busiest rank needs.
func (p *planner) sizeParts() {
	d, c := &p.Parts[0], &p.Parts[1]
	for to := range p.t.Ranks {
		in, back := int64(0), int64(0)
		for from := range p.t.Ranks {
			in += p.rowsOf(from, to)*p.s.messageRoom() + p.s.countBytes()
			back += p.rowsOf(to, from) * p.s.outputBytes()
		}
		if p.s.Layout != "packed" {
			back = int64(p.t.Tokens[to]) * int64(p.t.TopK) * p.s.outputBytes()
		}
		if p.s.Dispatches() {
			d.Half = max(d.Half, up(in, 4096))
		}
		if p.s.Combines() {
			c.Half = max(c.Half, up(back, 4096))
		}
	}
	c.Sink = 2 * d.Half
}

// count fills in the counts of messages by expert, and gives them their places.
func (p *planner) count() {
	n := p.t.Ranks
	p.From, p.At = make([]int64, n), make([]int64, n)
	for peer := range n {
		for e := range p.t.PerRank {
			p.Counts = append(p.Counts, uint32(p.perExpert[peer*p.t.PerRank+e][p.self]))
		}
	}
	for source := range n {
		for e := range p.t.PerRank {
			p.Counts = append(p.Counts, uint32(p.perExpert[p.self*p.t.PerRank+e][source]))
		}
		p.At[source] = p.countsAt(source, p.self)
	}
}

// blockAt is where what comes from a source begins at a rank, with layouts packed and rank: the
// messages of each source lie together, with its counts behind them.
func (p *planner) blockAt(source, rank int) (at int64) {
	for s := range source {
		at += p.rowsOf(s, rank)*p.s.messageRoom() + p.s.countBytes()
	}
	return at
}

func (p *planner) countsAt(source, rank int) int64 {
	if p.s.Layout != "message" {
		return p.blockAt(source, rank) + p.rowsOf(source, rank)*p.s.messageRoom()
	}
	all := int64(0)
	for s := range p.t.Ranks {
		all += p.rowsOf(s, rank)
	}
	return all*p.s.messageRoom() + int64(source)*p.s.countBytes()
}

// expertAt is where the messages of a source for an expert begin, with layout message: by expert
// of the rank, then by source.
func (p *planner) expertAt(expert, source int) int64 {
	rows, first := 0, expert/p.t.PerRank*p.t.PerRank
	for e := first; e < expert; e++ {
		for _, n := range p.perExpert[e] {
			rows += n
		}
	}
	for _, n := range p.perExpert[expert][:source] {
		rows += n
	}
	return int64(rows) * p.s.messageRoom()
}

// arrival is a message of one rank, with its place at its destination.
type arrival struct {
	Place
	to, expert int
	slot       int64 // among those of its source at its destination, in order of tokens
}

// arrivals are the messages of a source, in the order of tokens and selections; with layout rank
// one for each rank that a token goes to. Only a destination's, if to is not below 0.
func (p *planner) arrivals(source, to int) (list []arrival) {
	n := p.t.Ranks
	slots, atExpert, sent := make([]int64, n), map[int]int64{}, make([]int, n)
	for i := range sent {
		sent[i] = math.MaxInt
	}
	block, expertBase := map[int]int64{}, map[int]int64{}
	for token := range p.t.Tokens[source] {
		for k := range p.t.TopK {
			expert := p.t.Selection(source, token, k)
			if expert == routing.Masked {
				continue
			}
			rank := p.t.RankOf(expert)
			if p.s.Layout == "rank" && sent[rank] == token {
				continue
			}
			sent[rank] = token
			a := arrival{Place: Place{Rank: source, Token: token, K: k}, to: rank, expert: expert, slot: slots[rank]}
			slots[rank]++
			inExpert := atExpert[expert]
			atExpert[expert]++
			if to >= 0 && rank != to {
				continue
			}
			if p.s.Layout == "message" {
				base, known := expertBase[expert]
				if !known {
					base = p.expertAt(expert, source)
					expertBase[expert] = base
				}
				a.At = base + inExpert*p.s.messageRoom()
			} else {
				base, known := block[rank]
				if !known {
					base = p.blockAt(source, rank)
					block[rank] = base
				}
				a.At = base + a.slot*p.s.messageRoom()
			}
			list = append(list, a)
		}
	}
	return list
}

// next are all ranks, the one behind this rank first and this rank last.
func (p *planner) next() (list []int) {
	for i := 1; i <= p.t.Ranks; i++ {
		list = append(list, (p.self+i)%p.t.Ranks)
	}
	return list
}

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

// packBlocks makes a block for each peer, which one put sends: its messages, then its counts.
func (p *planner) packBlocks(d *Operation, mine []arrival) {
	begin := make([]int64, p.t.Ranks)
	for _, peer := range p.next() {
		begin[peer] = p.Source
		p.From[peer] = p.Source + p.rowsOf(p.self, peer)*p.s.messageRoom()
		bytes := p.rowsOf(p.self, peer)*p.s.messageRoom() + 4*p.s.PerRank
		d.Puts = append(d.Puts, Put{Peer: peer, Ready: d.Steps, Bytes: bytes, Local: p.Source, Remote: p.blockAt(p.self, peer)})
		p.Source += up(bytes, 128)
	}
	for _, a := range mine {
		p.Copies = append(p.Copies, Copy{a.Token, begin[a.to] + a.slot*p.s.messageRoom()})
	}
}

// postMessages sends each message by itself, from one copy of it, and the counts behind them.
func (p *planner) postMessages(d *Operation, mine []arrival) {
	begin := p.Source
	p.Source += up(int64(p.t.Tokens[p.self])*p.s.messageRoom(), 128)
	for i, a := range mine {
		at := begin + int64(a.Token)*p.s.messageRoom()
		if i == 0 || mine[i-1].Token != a.Token {
			p.Copies = append(p.Copies, Copy{a.Token, at})
		}
		d.Puts = append(d.Puts, Put{Peer: a.to, Ready: a.Token + 1, Bytes: p.s.MessageBytes(), Local: at, Remote: a.At})
	}
	for _, peer := range p.next() {
		p.From[peer] = p.Source
		p.Source += p.s.countBytes()
		d.Puts = append(d.Puts, Put{Peer: peer, Ready: d.Steps, Bytes: 4 * p.s.PerRank, Local: p.From[peer], Remote: p.countsAt(p.self, peer)})
	}
}

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
		for _, a := range p.arrivals(p.self, source) {
			p.Back = append(p.Back, Place{Rank: p.self, Token: a.Token, K: a.K, At: p.backAt(a)})
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
				weight = 1 // ranks have weighed their rows
			}
			total.Terms = append(total.Terms, Term{at, weight})
		}
		sum.N = len(total.Terms) - sum.First
		total.List = append(total.List, sum)
	}
}

// backAt is where the row of a selection comes back to at the rank of its token.
func (p *planner) backAt(a arrival) int64 {
	if p.s.Layout != "packed" {
		return int64(a.Token*p.t.TopK+a.K) * p.s.outputBytes()
	}
	rows := int64(0)
	for rank := range a.to {
		rows += p.rowsOf(a.Rank, rank)
	}
	return (rows + a.slot) * p.s.outputBytes()
}

// combineRows sends each expert's row back: by itself, or with layout packed all of a rank's
// tokens in one put.
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
			if p.s.Layout != "packed" {
				c.Puts = append(c.Puts, Put{Peer: owner, Bytes: out, Local: p.Source, Remote: p.backAt(a)})
			}
			p.Source += out
		}
		if p.s.Layout == "packed" && len(list) > 0 {
			c.Puts = append(c.Puts, Put{Peer: owner, Bytes: int64(len(list)) * out, Local: block, Remote: first})
		}
	}
}

// combinePartial adds up the rows of this rank's experts for a token, and sends the sum.
func (p *planner) combinePartial(c *Operation) {
	out, partial := p.s.outputBytes(), &p.Sums[0]
	for _, owner := range p.next() {
		for _, a := range p.arrivals(owner, p.self) {
			sum := Sum{First: len(partial.Terms)}
			for k := range p.t.TopK {
				if expert := p.t.Selection(owner, a.Token, k); expert != routing.Masked && p.t.RankOf(expert) == p.self {
					p.Made = append(p.Made, Place{Rank: owner, Token: a.Token, K: k, At: p.Source})
					partial.Terms = append(partial.Terms, Term{p.Source, p.t.Weights[owner][a.Token*p.t.TopK+k]})
					p.Source += out
				}
			}
			sum.N = len(partial.Terms) - sum.First
			sum.To = p.Source
			partial.List = append(partial.List, sum)
			c.Puts = append(c.Puts, Put{Peer: owner, Ready: len(partial.List), Bytes: out, Local: sum.To, Remote: p.backAt(a)})
			p.Source += out
		}
	}
	c.Steps = len(partial.List)
}

// Sink are the bytes of a rank's sink.
func (l *Layout) Sink() int64 { return 2 * (l.Parts[0].Half + l.Parts[1].Half) }

// Received are the bytes that come to the rank in an iteration, its own and its sums included: as
// many are checked.
func (l *Layout) Received() int64 { return l.received }

// Probes are the paths that ceilings are probed on, by rank: to the peer that a rank sends most,
// with requests of so many bytes as it sends.
func (s *Spec) Probes(t *routing.Table) (bytes []uint64, targets []int) {
	z := s.sizes(t)
	for from, row := range z.sent {
		best := (from + 1) % t.Ranks
		for i := 2; i < t.Ranks; i++ {
			if to := (from + i) % t.Ranks; row[to] > row[best] {
				best = to
			}
		}
		n := s.outputBytes()
		switch {
		case s.Layout == "packed":
			n = max(row[best], 1)
		case s.Dispatches():
			n = s.MessageBytes()
		}
		bytes, targets = append(bytes, uint64(n)), append(targets, best)
	}
	return bytes, targets
}

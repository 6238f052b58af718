package ep

import (
	"github.com/weir-bench/weir/workload/ep/routing"
)

// Layout is the list of a rank's requests, and of the messages it receives. All offsets are in bytes: in the rank's
// source, and in one half of an operation's part of a sink. Parts are equally large in all ranks.
type Layout struct {
	Table  *routing.Table
	Source int64        // bytes
	Parts  [2]Operation // of dispatch and of combine
	Copies []Copy       // of messages in the source, by token
	Come   []Place      // received messages
	Made   []Place      // rows of this rank's experts, in the source
	Back   []Place      // returned rows; pulled ones stay at their experts' rank
	Sums   [2]Sums      // partial ones before a combine (layout rank), and final ones of tokens
	Counts []uint32     // by peer: messages for each of its experts from this rank; then by source for this rank's
	From   []int64      // by peer: offset of its counts in the source
	At     []int64      // by source: offset of its counts in the half of dispatch

	received int64
}

// Operation is the part of a layout for one operation.
type Operation struct {
	Puts       []Put
	Steps      int   // before the last put: tokens to quantise, or sums to make
	Sink, Half int64 // offset of its first half in a sink, and the bytes of a half
}

// Put is a request: bytes from this rank's source to the half of a peer, or its own.
type Put struct {
	Peer, Ready          int // steps that must be done before
	Bytes, Local, Remote int64
}

// Copy is a token's message at an offset.
type Copy struct {
	Token int
	At    int64
}

// Place is a message or a row of a selection, at offset At. Rank is the token's.
type Place struct {
	Rank, Token, K int
	At             int64
}

// Sums are rows to add up.
type Sums struct {
	List  []Sum
	Terms []Term
}

// Sum is a sum of N terms from First on.
type Sum struct {
	To       int64
	First, N int
}

// Term is a row with its weight.
type Term struct {
	At     int64
	Weight float32
}

// planner computes a layout.
type planner struct {
	*Layout
	s    *Spec
	t    *routing.Table
	self int
	// slot is the index of a selection's message among those of its source at its destination (layout packed), of its
	// source and expert (message), or of its token (rank).
	perPair, distinct [][]int // by source and destination
	perExpert         [][]int // by expert and source
}

// LayOut computes the layout of a rank from the routes.
func (s *Spec) LayOut(t *routing.Table, self int) *Layout {
	a := t.Amounts()
	p := &planner{
		Layout: &Layout{Table: t}, s: s, t: t, self: self, perPair: a.Pairs, distinct: a.Distinct,
		perExpert: make([][]int, t.All()),
	}
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
	p.received = int64(len(p.Come)) * s.MessageBytes()
	if !s.Pulls() {
		p.received += int64(len(p.Back)) * s.outputBytes()
	}
	if s.Dispatches() {
		p.received += int64(t.Ranks) * 4 * s.PerRank
	}
	if s.Combines() {
		p.received += int64(t.Tokens[self]) * s.outputBytes()
	}
	return p.Layout
}

// rowsOf returns the number of messages from a source to a destination.
func (p *planner) rowsOf(from, to int) int64 {
	if p.s.Layout == "rank" {
		return int64(p.distinct[from][to])
	}
	return int64(p.perPair[from][to])
}

// sizeParts sets the size of each operation's halves to what the busiest rank needs.
func (p *planner) sizeParts() {
	d, c := &p.Parts[0], &p.Parts[1]
	for to := range p.t.Ranks {
		in, back, made := int64(0), int64(0), int64(0)
		for from := range p.t.Ranks {
			in += p.rowsOf(from, to)*p.s.MessageRoom() + p.countRoom(from)
			back += p.rowsOf(to, from) * p.s.outputBytes()
			made += p.rowsOf(from, to) * p.s.outputBytes()
		}
		switch {
		case p.s.Pulls():
			back = made
		case p.s.Layout != "packed":
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

// count fills in the counts of messages by expert, and assigns their offsets.
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

// blockAt returns the offset of a source's block at a rank, with layouts packed and rank: the messages of each source
// are adjacent, followed by its counts.
func (p *planner) blockAt(source, rank int) (at int64) {
	for s := range source {
		at += p.rowsOf(s, rank)*p.s.MessageRoom() + p.countRoom(s)
	}
	return at
}

// countRoom returns the size of a source's counts at a rank; only members send any.
func (p *planner) countRoom(source int) int64 {
	if !p.t.Member(source) {
		return 0
	}
	return p.s.CountBytes()
}

func (p *planner) countsAt(source, rank int) int64 {
	if p.s.Layout != "message" {
		return p.blockAt(source, rank) + p.rowsOf(source, rank)*p.s.MessageRoom()
	}
	all, before := int64(0), int64(0)
	for s := range p.t.Ranks {
		all += p.rowsOf(s, rank)
	}
	for s := range source {
		before += p.countRoom(s)
	}
	return all*p.s.MessageRoom() + before
}

// expertAt returns the offset of a source's messages for an expert, with layout message: by expert of the rank, then by
// source.
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
	return int64(rows) * p.s.MessageRoom()
}

// add appends a put, or extends the one before if they are neighbours in both memories.
func (o *Operation) add(p Put) {
	if n := len(o.Puts); n > 0 {
		last := &o.Puts[n-1]
		if last.Peer == p.Peer && last.Local+last.Bytes == p.Local && last.Remote+last.Bytes == p.Remote {
			last.Bytes, last.Ready = last.Bytes+p.Bytes, p.Ready
			return
		}
	}
	o.Puts = append(o.Puts, p)
}

// Sink returns the size of a rank's sink in bytes.
func (l *Layout) Sink() int64 { return 2 * (l.Parts[0].Half + l.Parts[1].Half) }

// Received returns the bytes that arrive at the rank in an iteration, including its own and its sums; all of them are
// checked.
func (l *Layout) Received() int64 { return l.received }

// Probes returns the paths to probe for ceilings, by rank: to the peer that a rank sends most to, with requests of the
// bytes that it sends at once. Kernels send all messages of an operation at once.
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
		case s.sentByKernels():
			n = max(toOthers(row, from), 1)
		case s.Layout == "packed" || s.Posts() && s.Layout == "rank":
			n = max(row[best], 1)
		case s.Dispatches():
			n = s.MessageBytes()
		}
		bytes, targets = append(bytes, uint64(n)), append(targets, best)
	}
	return bytes, targets
}

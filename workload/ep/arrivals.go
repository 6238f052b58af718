package ep

import (
	"math"

	"github.com/weir-bench/weir/workload/ep/routing"
)

// arrival is a message of one rank, with its slot at its destination.
type arrival struct {
	Place
	to, expert int
	slot       int64 // index among those of its source at its destination, in order of tokens
}

// arrivals returns the messages of a source in the order of tokens and selections; with layout rank one for each rank
// that a token goes to. If to is not below 0, only those for destination to.
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
				a.At = base + inExpert*p.s.MessageRoom()
			} else {
				base, known := block[rank]
				if !known {
					base = p.blockAt(source, rank)
					block[rank] = base
				}
				a.At = base + a.slot*p.s.MessageRoom()
			}
			list = append(list, a)
		}
	}
	return list
}

// next returns all ranks, starting after this one and ending with it.
func (p *planner) next() (list []int) {
	for i := 1; i <= p.t.Ranks; i++ {
		list = append(list, (p.self+i)%p.t.Ranks)
	}
	return list
}

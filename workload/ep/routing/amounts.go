package routing

import "slices"

// Amounts are the statistics of a table.
type Amounts struct {
	Tokens     []int   // by rank
	Selections []int   // by rank: selections of its tokens
	Experts    []int   // by expert: its tokens
	Pairs      [][]int // by source and destination rank: selections
	Distinct   [][]int // by source and destination rank: tokens with at least one selection there
	MaxVio     float64 // tokens of the busiest expert / mean - 1
	Passed     float64 // mean over tokens of the number of different ranks
}

// Amounts computes the statistics.
func (t *Table) Amounts() Amounts {
	a := Amounts{
		Tokens: t.Tokens, Selections: make([]int, t.Ranks), Experts: make([]int, t.All()), Pairs: square(t.Ranks),
		Distinct: square(t.Ranks),
	}
	made, passed, last := 0, 0, make([]int, t.Ranks)
	for rank, n := range t.Tokens {
		for i := range last {
			last[i] = -1
		}
		for token := range n {
			for k := range t.TopK {
				expert := t.Selection(rank, token, k)
				if expert == Masked {
					continue
				}
				to := t.RankOf(expert)
				a.Selections[rank]++
				a.Experts[expert]++
				a.Pairs[rank][to]++
				made++
				if last[to] != token {
					last[to] = token
					a.Distinct[rank][to]++
					passed++
				}
			}
		}
	}
	if made > 0 {
		a.MaxVio = float64(slices.Max(a.Experts))*float64(t.All())/float64(made) - 1
	}
	if tokens := t.tokens(); tokens > 0 {
		a.Passed = float64(passed) / float64(tokens)
	}
	return a
}

func square(n int) [][]int {
	rows := make([][]int, n)
	for i := range rows {
		rows[i] = make([]int, n)
	}
	return rows
}

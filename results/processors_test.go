package results

import "testing"

func TestOfManyRanksThoseThatWaitedLongestAreListed(t *testing.T) {
	var all []RankProcessor
	for r := range 40 {
		all = append(all, RankProcessor{Rank: r, Ran: 1, Waited: float64(r % 20)})
	}
	p := &Processors{}
	p.SetRanks(all)
	if len(p.Ranks) != mostProcessors || p.Ranks[0].Rank != 12 || p.Ranks[15].Rank != 39 {
		t.Errorf("%v", p.Ranks)
	}
}

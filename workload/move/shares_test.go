package move

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

func TestSharesAreOfInitiators(t *testing.T) {
	var ranks []*Part
	for i := range 4 {
		r := &Part{Rank: i, Initiator: i%2 == 0}
		if r.Initiator {
			r.Samples = &results.Samples{Bytes: 8e9, Start: 5, End: 5 + int64(i+1)*1e9}
		}
		ranks = append(ranks, r)
	}
	list, n, pair := Shares(Spec{}, append(ranks, nil))
	want := []results.RankShare{
		{Rank: 0, Bytes: 8e9, Seconds: 1, Bandwidth: 8}, {Rank: 2, Bytes: 8e9, Seconds: 3, Bandwidth: 8. / 3},
	}
	if diff := cmp.Diff(want, list); diff != "" || n != 2 || pair != nil {
		t.Errorf("%d, %v: %s", n, pair, diff)
	}
}

func TestSharesListTheSlowestRanks(t *testing.T) {
	var ranks []*Part
	for i := range results.MostRanks + 1 {
		ranks = append(ranks, &Part{
			Rank: i, Initiator: true, Samples: &results.Samples{Bytes: 1e9, End: int64(i+1) * 1e6},
		})
	}
	list, n, _ := Shares(Spec{}, ranks)
	if n != results.MostRanks+1 || len(list) != results.SlowestRanks {
		t.Fatalf("%d listed of %d", len(list), n)
	}
	for i, s := range list {
		if want := n - results.SlowestRanks + i; s.Rank != want {
			t.Errorf("rank %d is listed, want %d", s.Rank, want)
		}
	}
}

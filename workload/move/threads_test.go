package move

import (
	"github.com/weir-bench/weir/results"
	"testing"
)

// Few points of progress are kept for any number of threads, in order, with the end as the last.
func TestProgressOfThreads(t *testing.T) {
	threads := make([]*Part, 5)
	for i := range threads {
		threads[i] = &Part{Initiator: true, Samples: &results.Samples{
			Ops: 1e6, Bytes: 1e9, Start: int64(i), End: 1e9 + int64(i), Counts: map[int]int64{500: 10},
		}}
		for k := int64(1); k < 1000; k++ {
			threads[i].Samples.Progress = append(threads[i].Samples.Progress,
				results.Progress{Time: int64(i) + k*1e6, Bytes: uint64(k) * 1e6})
		}
	}
	s := Together(threads).Samples
	if n := len(s.Progress); n != maxPoints || s.Progress[n-1] != (results.Progress{Time: s.End, Bytes: s.Bytes}) ||
		s.Progress[0].Bytes != 0 {
		t.Fatalf("%d points from %+v to %+v", n, s.Progress[0], s.Progress[n-1])
	}
	for i, p := range s.Progress[1:] {
		if before := s.Progress[i]; p.Time <= before.Time || p.Bytes < before.Bytes {
			t.Fatalf("%+v after %+v", p, before)
		}
	}
}

// The stages of a rank include the requests of all its threads.
func TestStagesOfThreads(t *testing.T) {
	stage := Stage{Stamps: 1, Mean: 2e-6, P99: 3e-6}
	of := func() *Part {
		return &Part{Initiator: true, Samples: &results.Samples{End: 1, Counts: map[int]int64{}},
			Stages: Stages{Made: stage, Listed: stage, Registered: stage, Post: stage, Transfer: stage}}
	}
	all := Together([]*Part{of(), of(), of()}).Stages
	for name, s := range map[string]Stage{
		"made": all.Made, "listed": all.Listed, "registered": all.Registered, "post": all.Post,
		"transfer": all.Transfer,
	} {
		if s.Stamps != 3 || s.P99 != 3e-6 {
			t.Errorf("%s is %+v", name, s)
		}
	}
}

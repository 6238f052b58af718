package transfer

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
	"math"
	"strings"
	"testing"
)

// The bandwidth of a rank is over the time in which all its threads moved.
func TestThreadsTogether(t *testing.T) {
	a, b := initiator(0, 0, 2e9, 4e9), initiator(0, 1e9, 3e9, 4e9)
	a.Samples.Progress = []results.Progress{{Time: 1e9, Bytes: 3e9}}
	a.Samples.First, b.Samples.First = []int64{1, 2}, []int64{3}
	a.Transport, b.Transport = "x", "x"
	a.Verified, b.Verified = true, true
	b.Prep.Connect = 5
	r := move.Together([]*move.Part{a, b})
	if !r.Verified || r.Memcpy != 100e9 || r.Ceiling != 20e9 || r.Prep.Connect != 5 ||
		r.Transport != "x, by each of 2 threads" {
		t.Errorf("%+v", r)
	}
	if s := r.Samples; s.Ops != 8e6 || s.Bytes != 8e9 || s.Start != 0 || s.End != 3e9 || s.Counts[500] != 20 ||
		len(s.First) != 3 {
		t.Errorf("%+v", s)
	}
	if *r.Threads != (move.Threads{From: 1e9, To: 2e9, Took: 4}) {
		t.Errorf("%+v", *r.Threads)
	}
	m, err := Metrics(transferCase(), []*move.Part{r, {Rank: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{
		"bandwidth": 3, "requests": 8e6, "skew": 1, "bandwidth.min_rank": 8. / 3,
	} {
		if math.Abs(m[name]-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, m[name], want)
		}
	}
	c := transferCase()
	c.Mode = "pingpong"
	if m, err = Metrics(c, []*move.Part{r, {Rank: 1}}); err != nil || math.Abs(m["latency.avg"]-4./16e6) > 1e-15 {
		t.Errorf("latency %v, want half of a round trip of one thread: %v", m["latency.avg"], err)
	}
}

func TestThreadsWithoutOverlap(t *testing.T) {
	r := move.Together([]*move.Part{initiator(0, 0, 1e9, 4e9), initiator(0, 2e9, 3e9, 4e9)})
	if _, err := Metrics(transferCase(), []*move.Part{r}); err == nil ||
		!strings.Contains(err.Error(), "no more ranks and threads than processors") {
		t.Errorf("got %v", err)
	}
}

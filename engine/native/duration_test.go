package native

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
)

func withDuration(d time.Duration) func(*move.Spec) {
	return func(o *move.Spec) { o.Duration, o.Iterations = quantity.Time(d), 8 }
}

// With a duration the timed part ends when it has passed, whatever the number of iterations, and reports how
// many there were.
func TestDuration(t *testing.T) {
	phase.Long(t)
	endless := func(o *move.Spec) { o.Iterations, o.Verify = 1<<40, "sample" }
	for _, fabric := range []string{"shm", "tcp", "ucx"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			var short []bool
			// A rank that the kernel starts late has less time: one of the tries is on time, and the later
			// they are the less a late start matters.
			for try := 0; try < 5 && (try == 0 || slices.Contains(short, true)); try++ {
				wanted := 60 * time.Millisecond << try
				cases := []move.Spec{
					options(8, withPattern("pairwise", 2), withDuration(wanted)),
					options(100000, withPattern("pairwise", 2), withDuration(wanted), read),
					options(8, withPattern("pairwise", 2), pingpong, withDuration(wanted)),
					options(100000, withPattern("pairwise", 2), pingpong, withDuration(wanted)),
					options(4096, withPattern("pairwise", 2), withDuration(wanted), endless),
					options(64, withPattern("pairwise", 2), pingpong),
				}
				if try == 0 {
					short = slices.Repeat([]bool{true}, len(cases))
				}
				for k, ranks := range runCases(t, fabric, 2, cases...) {
					s := ranks[0].Samples
					perRequest := requestBytes(cases[k])
					if cases[k].Mode == "pingpong" {
						perRequest *= 2
					}
					if s.Bytes != s.Ops*perRequest {
						t.Errorf("case %d: %d bytes in %d requests", k, s.Bytes, s.Ops)
					}
					took := time.Duration(s.End - s.Start)
					t.Logf("case %d took %v for %d requests with %d points of progress", k, took, s.Ops,
						len(s.Progress))
					if cases[k].Duration == 0 {
						short[k] = false
						if s.Ops != 9 {
							t.Errorf("case %d: %d requests after a case that lasted, want 9", k, s.Ops)
						}
						continue
					}
					if took >= wanted*9/10 && s.Ops > 8 && len(s.Progress) >= 2 {
						short[k] = false
					}
				}
			}
			if slices.Contains(short, true) {
				t.Errorf("cases that were always too short: %v", short)
			}
		})
	}
	o := options(4096, withPattern("all_to_all", 4), withDuration(60*time.Millisecond))
	for rank, r := range runCases(t, "tcp", 4, o)[0] {
		if r.Samples == nil || r.Samples.Ops < 3 {
			t.Errorf("rank %d: %+v", rank, r.Samples)
		}
	}
}

// Even with a duration of nothing, each target gets one request, so that verified data was moved, however few
// iterations are asked for.
func TestDurationThatIsOver(t *testing.T) {
	o := options(4096, withPattern("one_to_many", 4), func(o *move.Spec) { o.Duration, o.Iterations = 1, 1 })
	for rank, r := range runCases(t, "shm", 4, o)[0] {
		if !r.Verified || rank == 0 && r.Samples.Ops < 3 {
			t.Errorf("rank %d: verified %v, %+v", rank, r.Verified, r.Samples)
		}
	}
}

// Ranks of several hosts have separate clocks; the common start and the end of a duration are on rank 0's.
func TestRanksOfSeveralHosts(t *testing.T) {
	o := options(4096, withPattern("many_to_one", 3), func(o *move.Spec) { o.Duration = 20e6 })
	var apart time.Duration
	for range 5 { // in one of them the kernel runs both at about the same time
		ranks := onNodes(t, "tcp", []string{"a", "b", "c"}, o)
		if apart = time.Duration(ranks[1].Samples.Start - ranks[2].Samples.Start).Abs(); apart < time.Second {
			return
		}
	}
	t.Errorf("the two initiators start %v apart", apart)
}

func TestMetricsOfUse(t *testing.T) {
	o := options(64<<10, func(o *move.Spec) { o.Duration = 50e6 })
	begin := time.Now()
	ranks := runCases(t, "shm", 2, o)[0]
	wall := time.Since(begin).Seconds()
	m, err := transfer.Metrics(o, ranks)
	if err != nil {
		t.Fatal(err)
	}
	gb := m["requests"] * 65536 / 1e9
	// both ranks poll; both count in each, because here they are one process
	if cpu := m["cpu_time_per_gb"] * gb; cpu <= 0 || cpu > 2*wall*float64(runtime.NumCPU()) {
		t.Errorf("%v s of processors for a timed part of 50 ms, within %v s", cpu, wall)
	}
	if m["clock.cost"] <= 0 || m["clock.cost"] > 1e-6 || m["clock.resolution"] <= 0 || m["clock.resolution"] > 1e-6 {
		t.Errorf("clock: cost %v s, resolution %v s", m["clock.cost"], m["clock.resolution"])
	}
	if m["post.avg"] <= 0 || m["post.p99"] <= 0 || m["transfer.avg"] != 0 || m["prep.request"] <= 0 {
		t.Errorf("shm completes in the post: post %v and %v s, transfer %v s, making %v s", m["post.avg"],
			m["post.p99"], m["transfer.avg"], m["prep.request"])
	}
	tcp, err := transfer.Metrics(o, runCases(t, "tcp", 2, o)[0])
	if err != nil {
		t.Fatal(err)
	}
	if sum := tcp["post.avg"] + tcp["transfer.avg"]; tcp["transfer.avg"] <= 0 || sum < tcp["latency.avg"]*0.95 ||
		sum > tcp["latency.avg"]*1.05 {
		t.Errorf("tcp: post %v and transfer %v are not the latency %v", tcp["post.avg"], tcp["transfer.avg"],
			tcp["latency.avg"])
	}
}

package native

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"weir/quantity"
	"weir/test/phase"
	"weir/workload/move"
	"weir/workload/transfer"
)

func lasting(d time.Duration) func(*move.Spec) {
	return func(o *move.Spec) { o.Duration, o.Iterations = quantity.Time(d), 8 }
}

// With a duration the timed part ends when the time is over, whatever the number
// of iterations is, and says how many there were.
func TestDuration(t *testing.T) {
	phase.Long(t)
	endless := func(o *move.Spec) { o.Iterations, o.Verify = 1<<40, "sample" }
	for _, fabric := range []string{"shm", "tcp", "ucx"} {
		t.Run(fabric, func(t *testing.T) {
			needs(t, fabric)
			var short []bool
			// A rank that the kernel starts late has the less time: one of the tries is on
			// time, and the later they are the less does a late start matter.
			for try := 0; try < 5 && (try == 0 || slices.Contains(short, true)); try++ {
				wanted := 60 * time.Millisecond << try
				cases := []move.Spec{
					options(8, under("pairwise", 2), lasting(wanted)),
					options(100000, under("pairwise", 2), lasting(wanted), read),
					options(8, under("pairwise", 2), pingpong, lasting(wanted)),
					options(100000, under("pairwise", 2), pingpong, lasting(wanted)),
					options(4096, under("pairwise", 2), lasting(wanted), endless),
					options(64, under("pairwise", 2), pingpong),
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
	o := options(4096, under("all_to_all", 4), lasting(60*time.Millisecond))
	for rank, r := range runCases(t, "tcp", 4, o)[0] {
		if r.Samples == nil || r.Samples.Ops < 3 {
			t.Errorf("rank %d: %+v", rank, r.Samples)
		}
	}
}

// Even a duration that is over at once moves one request to each target, so that
// what is verified has been moved, however few iterations there are to be.
func TestDurationThatIsOver(t *testing.T) {
	o := options(4096, under("one_to_many", 4), func(o *move.Spec) { o.Duration, o.Iterations = 1, 1 })
	for rank, r := range runCases(t, "shm", 4, o)[0] {
		if !r.Verified || rank == 0 && r.Samples.Ops < 3 {
			t.Errorf("rank %d: verified %v, %+v", rank, r.Verified, r.Samples)
		}
	}
}

// What is not of one host has clocks of its own; the common start and the end of a
// duration are on rank 0's.
func TestRanksOfSeveralHosts(t *testing.T) {
	phase.NotUnderRace(t)
	o := options(4096, under("many_to_one", 3), func(o *move.Spec) { o.Duration = 20e6 })
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
	phase.NotUnderRace(t)
	o := options(64<<10, func(o *move.Spec) { o.Duration = 50e6 })
	begin := time.Now()
	ranks := runCases(t, "shm", 2, o)[0]
	wall := time.Since(begin).Seconds()
	m, err := transfer.Metrics(o, ranks)
	if err != nil {
		t.Fatal(err)
	}
	gb := m["requests"] * 65536 / 1e9
	// both ranks poll; both are counted in each, because here they are one process
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

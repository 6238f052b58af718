package sim

import (
	"math"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// Without variation the metrics are those of the formulas in the package comment.
func TestModel(t *testing.T) {
	const us = 1e-6
	mib := float64(1 << 20)
	for _, c := range []struct {
		name                   string
		set                    option.Values
		bandwidth, latency     float64 // GB/s, s
		messages, ofTheCeiling float64 // 1/s, share
	}{
		{"one write at a time", option.Values{"in_flight": int64(1)},
			mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 1 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
		{"a read asks first", option.Values{"in_flight": int64(1), "op": "read"},
			mib / (4*us + mib/10e9) / 1e9, 4*us + mib/10e9, 1 / (4*us + mib/10e9), mib / 10e9 / (4*us + mib/10e9)},
		{"a window covers the latency", option.Values{"in_flight": int64(4)},
			mib / (2*us/4 + mib/10e9) / 1e9, 2*us + 4*mib/10e9, 1 / (2*us/4 + mib/10e9),
			mib / 10e9 / (2*us/4 + mib/10e9)},
		{"a batch has one latency", option.Values{
			"in_flight": int64(1), "batch": int64(8), "block_size": quantity.Size(128 << 10),
		},
			mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 1 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
		{"a window is no larger than the iterations", option.Values{"in_flight": int64(64), "iterations": int64(4)},
			mib / (2*us/4 + mib/10e9) / 1e9, 2*us + 4*mib/10e9, 1 / (2*us/4 + mib/10e9),
			mib / 10e9 / (2*us/4 + mib/10e9)},
		{"half of a round trip", option.Values{"mode": "pingpong"},
			mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 1 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
		{"pairs add up", option.Values{"in_flight": int64(1), "ranks": int64(8)},
			4 * mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 4 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
		{"one sender has one path", option.Values{"in_flight": int64(1), "ranks": int64(5), "pattern": "one_to_many"},
			mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 1 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
		{"senders share their target", option.Values{
			"in_flight": int64(1), "ranks": int64(5), "pattern": "many_to_one",
		},
			4 * mib / (2*us + mib/2.5e9) / 1e9, 2*us + mib/2.5e9, 4 / (2*us + mib/2.5e9),
			mib / 2.5e9 / (2*us + mib/2.5e9)},
		{"a ring has a path for each", option.Values{"in_flight": int64(1), "ranks": int64(3), "pattern": "ring"},
			3 * mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 3 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
		{"each to each other", option.Values{"in_flight": int64(1), "ranks": int64(5), "pattern": "all_to_all"},
			5 * mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 5 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
		{"both directions of a pair", option.Values{"in_flight": int64(1), "bidirectional": true},
			2 * mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 2 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
		{"a duration has as many as begin in it", option.Values{
			"in_flight": int64(1), "duration": quantity.Time(50e6),
		},
			mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 1 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
		{"threads have a window each, on one path", option.Values{"in_flight": int64(2), "threads": int64(4)},
			mib / (2*us/8 + mib/10e9) / 1e9, 8 * (2*us/8 + mib/10e9), 1 / (2*us/8 + mib/10e9),
			mib / 10e9 / (2*us/8 + mib/10e9)},
		{"a message of each thread is under way", option.Values{"mode": "pingpong", "threads": int64(4)},
			mib / (2*us/4 + mib/10e9) / 1e9, 2*us + 4*mib/10e9, 1 / (2*us/4 + mib/10e9),
			mib / 10e9 / (2*us/4 + mib/10e9)},
		{"many iterations", option.Values{"in_flight": int64(1), "iterations": int64(1e6)},
			mib / (2*us + mib/10e9) / 1e9, 2*us + mib/10e9, 1 / (2*us + mib/10e9), mib / 10e9 / (2*us + mib/10e9)},
	} {
		m := metrics(t, New(), launchOf(0, options(t, still(c.set))))
		for name, want := range map[string]float64{
			"bandwidth": c.bandwidth, "latency.p50": c.latency, "latency.p99": c.latency, "latency.avg": c.latency,
			"message_rate": c.messages, "ceiling": c.ofTheCeiling,
		} {
			if got := m[name]; math.Abs(got/want-1) > 1e-3 { // 3 digits of the histogram
				t.Errorf("%s: %s is %v, want %v", c.name, name, got, want)
			}
		}
	}
}

// Samples have the form of the native engine: the initiators have them, and their counts are consistent.
func TestSamplesAreComplete(t *testing.T) {
	for _, set := range []option.Values{
		{"iterations": int64(1)}, {"iterations": int64(100)}, {"iterations": int64(256)}, {"iterations": int64(257)},
		{"iterations": int64(100_003)},
		{"iterations": int64(100), "block_size": quantity.Size(8)}, {
			"iterations": int64(1_000_000), "block_size": quantity.Size(8),
		},
		{
			"iterations": int64(1 << 40), "block_size": quantity.Size(1), "sim_bandwidth": quantity.Rate(1e18),
			"sim_latency": quantity.Time(1),
		},
		{"iterations": int64(300), "mode": "pingpong", "ranks": int64(6), "verify": "none"},
	} {
		o := options(t, set)
		l := launchOf(3, o)
		p := play(t, New(), l)
		if p.Failure != nil {
			t.Fatalf("%v: %s", set, p.Failure)
		}
		for r, res := range p.Cases[0].Ranks {
			if res.Rank != r || p.Played.Cases[0].Ranks[r].Key != "case0" || res.Initiator != (r < l.Ranks/2) ||
				res.Initiator != (res.Samples != nil) || res.Verified != (o.Verify != "none") {
				t.Fatalf("%v: rank %d gave %+v", set, r, res)
			}
			if res.Initiator {
				whole(t, o, res)
			}
		}
	}
}

func whole(t *testing.T, o move.Spec, res *move.Part) {
	t.Helper()
	s := res.Samples
	bytes := uint64(o.BlockSize) * uint64(o.Batch)
	if o.Mode == "pingpong" {
		bytes = 2 * uint64(o.BlockSize)
	}
	if s.Ops != uint64(o.Iterations) || s.Bytes != s.Ops*bytes || s.Case != "case0" || s.Launch != 3 ||
		s.Rank != res.Rank || s.Role != "initiator" {
		t.Errorf("samples say %+v", s)
	}
	var stamped int64
	for _, n := range s.Counts {
		stamped += n
	}
	_, want := move.Stamped(s.Bytes/s.Ops, s.Ops, false)
	if stamped != int64(want) || len(s.First) == 0 || len(s.Last) == 0 {
		t.Errorf("%d of %d requests are stamped, want %d", stamped, s.Ops, want)
	}
	last := results.Progress{Time: s.Start}
	for _, p := range s.Progress {
		if p.Time < last.Time || p.Bytes < last.Bytes {
			t.Errorf("progress goes back from %+v to %+v", last, p)
		}
		last = p
	}
	if last.Time != s.End || last.Bytes != s.Bytes || s.End <= s.Start {
		t.Errorf("progress ends at %+v, the samples at %d with %d bytes", last, s.End, s.Bytes)
	}
}

// The histogram's layout is that of the library.
func TestHistogramIndex(t *testing.T) {
	for _, ns := range []int64{1, 2, 2047, 2048, 2049, 4095, 4096, 123_456, 1 << 30, results.HistogramHighest} {
		h := hdr.New(1, results.HistogramHighest, 3)
		if err := h.RecordValue(ns); err != nil {
			t.Fatal(err)
		}
		for i, n := range h.Export().Counts {
			if n != 0 && i != histogramIndex(ns) {
				t.Errorf("%d ns is counter %d, want %d", ns, histogramIndex(ns), i)
			}
		}
	}
}

// histogramOf is the library's histogram of the recorded values.
func histogramOf(s *results.Samples) *hdr.Histogram {
	snap := hdr.New(1, results.HistogramHighest, 3).Export()
	for i, n := range s.Counts {
		snap.Counts[i] = n
	}
	return hdr.Import(snap)
}

// For any number of iterations they have the declared mean, coefficient of variation and quantiles.
func TestJitter(t *testing.T) {
	for _, iterations := range []int64{256, 200_000} {
		h := hdr.New(1, results.HistogramHighest, 3)
		var took, ops float64
		for seed := range int64(200) {
			set := still(option.Values{
				"sim_jitter": quantity.Percent(0.2), "iterations": iterations, "in_flight": int64(1), "sim_seed": seed,
			})
			s := play(t, New(), launchOf(0, options(t, set))).Cases[0].Ranks[0].Samples
			h.Merge(histogramOf(s))
			took += float64(s.End - s.Start)
			ops += float64(s.Ops)
		}
		sd := sigma(0.2)
		mean := 2000 + float64(1<<20)/10
		for _, c := range []struct {
			what              string
			got, want, within float64
		}{
			{"time of an iteration", took / ops, mean, 0.005},
			{"mean latency", h.Mean(), mean, 0.005},
			{"variation", h.StdDev() / h.Mean(), 0.2, 0.03},
			{"p50", float64(h.ValueAtQuantile(50)), mean * math.Exp(-sd*sd/2), 0.01},
			{"p99", float64(h.ValueAtQuantile(99)), mean * math.Exp(2.3263*sd-sd*sd/2), 0.02},
			{"p99.9", float64(h.ValueAtQuantile(99.9)), mean * math.Exp(3.0902*sd-sd*sd/2), 0.04},
		} {
			if math.Abs(c.got/c.want-1) > c.within {
				t.Errorf("%d iterations: %s is %.5g, want %.5g within %g %%", iterations, c.what, c.got, c.want,
					c.within*100)
			}
		}
	}
}

// A timed part with a duration has the iterations that begin in it, fewer in a slow launch, and at least one to each
// target.
func TestDurationCountsIterations(t *testing.T) {
	for _, c := range []struct {
		set  option.Values
		want float64
	}{
		{option.Values{"in_flight": int64(1), "duration": quantity.Time(10e6)},
			math.Ceil(10e-3 / (2e-6 + float64(1<<20)/10e9))},
		{option.Values{"duration": quantity.Time(1), "ranks": int64(4), "pattern": "all_to_all"}, 12},
	} {
		m := metrics(t, New(), launchOf(0, options(t, still(c.set))))
		if m["requests"] != c.want {
			t.Errorf("%v: %v requests, want %v", c.set, m["requests"], c.want)
		}
		if m["skew"] != 0 || m["post.avg"] != 0 || m["cpu_time_per_gb"] != 0 ||
			math.Abs(m["transfer.p99"]/m["latency.p99"]-1) > 0.01 {
			t.Errorf("%v: skew %v, post %v, cpu %v, transfer %v of %v", c.set, m["skew"], m["post.avg"],
				m["cpu_time_per_gb"], m["transfer.p99"], m["latency.p99"])
		}
	}
}

package transfer

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload/move"
)

// A timed part of few short requests is mostly clock reads: the note says how many requests would be enough.
func TestShortTimedPartsAreNoted(t *testing.T) {
	for _, c := range []struct {
		name             string
		iterations, took int64 // ns
		stamps           int64
		cost             float64
		mode             string
		duration         quantity.Time
		want             string // part of the note; "": none
	}{
		{"copies in a cache", 200, 31_000, 128, 41e-9, "stream", 0,
			"time stamps took over 5 % of the timed part, so bandwidth is too low: set iterations: 10000"},
		{"many copies", 20000, 1_000_000, 312, 41e-9, "stream", 0, ""},
		{"a socket", 200, 286_000, 128, 9.4e-9, "stream", 0, ""},
		{"round trips", 200, 31_000, 128, 41e-9, "pingpong", 0, ""},
		{"a duration", 100, 31_000, 128, 41e-9, "stream", 1e9, ""},
		{"nothing but stamps", 100, 8_000, 100, 41e-9, "stream", 0, "set iterations: 100000"},
	} {
		o := &move.Spec{Mode: c.mode, Iterations: c.iterations, Duration: c.duration, Threads: 1}
		part := &move.Part{Initiator: true, Clock: move.Clock{Cost: c.cost}, Samples: &results.Samples{
			End: c.took, Counts: map[int]int64{7: c.stamps},
		}}
		notes := stampNotes(o, []*move.Part{{}, part})
		if c.want == "" {
			if notes != nil {
				t.Errorf("%s: %v", c.name, notes)
			}
			continue
		}
		if len(notes) != 1 || !strings.Contains(notes[0].Text, c.want) || notes[0].Count != int(c.stamps) {
			t.Errorf("%s: %v", c.name, notes)
		}
	}
}

// A mean above the p99 says that slow round trips had no time.
func TestStallNotes(t *testing.T) {
	for _, c := range []struct {
		name     string
		mode     string
		avg, p99 float64
		times    int64
		said     bool
	}{
		{"stalls between the stamps", "pingpong", 75e-6, 20e-6, 128, true},
		{"a usual tail", "pingpong", 12e-6, 20e-6, 128, false},
		{"all have a time", "pingpong", 75e-6, 20e-6, 2000, false},
		{"a stream, whose latency has a queue", "stream", 75e-6, 20e-6, 128, false},
		{"no p99", "pingpong", 75e-6, 0, 128, false},
	} {
		part := &move.Part{Initiator: true, Samples: &results.Samples{Counts: map[int]int64{7: c.times}}}
		notes := stallNotes(&move.Spec{Mode: c.mode, Iterations: 2000}, []*move.Part{part},
			map[string]float64{"latency.avg": c.avg, "latency.p99": c.p99})
		if (len(notes) > 0) != c.said {
			t.Errorf("%s: %v", c.name, notes)
		}
	}
}

// A bandwidth of a small common part of the initiators is noted.
func TestSmallOverlapsAreNoted(t *testing.T) {
	for share, want := range map[float64]string{
		0.026: "in only 2.6 % of the time", 0.3: "in only 30 %", 0.5: "", 1: "",
	} {
		notes := overlapNotes(map[string]float64{"overlap": share})
		if (len(notes) == 0) != (want == "") || want != "" && !strings.Contains(notes[0].Text, want) {
			t.Errorf("%v: %v", share, notes)
		}
	}
	if notes := overlapNotes(map[string]float64{}); notes != nil {
		t.Errorf("without an overlap: %v", notes)
	}
}

//go:build weirtest

package native

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

func TestPeerThatClosesTCP(t *testing.T) {
	l := engine.Launch{Fabric: "tcp", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{
		caseOf("a", options(1<<20, func(o *move.Spec) { o.Iterations = 1 << 30 }), patience, patience)}}
	ctl := control(t)
	r0, err := open(l, engine.Identity{Rank: 0}, ctl)
	if err != nil {
		t.Fatal(err)
	}
	r1, err := open(l, engine.Identity{Rank: 1}, control(t))
	if err != nil {
		t.Fatal(err)
	}
	a0, _ := r0.Address()
	a1, _ := r1.Address()
	done := make(chan error, 2)
	for _, r := range []*rank{r0, r1} {
		go func() { done <- r.Connect([][]byte{a0, a1}) }()
	}
	if err := errors.Join(<-done, <-done); err != nil {
		t.Fatal(err)
	}
	r1.breakConnections()
	if _, err := r0.measure(l.Cases[0].Key); err == nil || !strings.Contains(err.Error(), "peer 1") {
		t.Errorf("got %v, want the peer named", err)
	}
}

// The C recorder and hdrhistogram-go must put every value into the same counter.
func TestRecorderIsHdrHistogram(t *testing.T) {
	h := hdr.New(1, results.HistogramHighest, 3)
	if n := len(h.Export().Counts); n != histogramCounts() {
		t.Fatalf("C has %d counters, HdrHistogram %d", histogramCounts(), n)
	}
	for _, v := range []int64{
		0, 1, 1023, 1024, 2047, 2048, 2049, 4095, 4096, 1e6, 123456789, 1<<39 + 12345, results.HistogramHighest,
	} {
		h.Reset()
		if err := h.RecordValue(v); err != nil {
			t.Fatal(err)
		}
		want := -1
		for i, n := range h.Export().Counts {
			if n != 0 {
				want = i
			}
		}
		if got := histogramIndex(v); got != want {
			t.Errorf("value %d: C counts it at %d, HdrHistogram at %d", v, got, want)
		}
	}
}

func TestPatternTellsPlaceAndKey(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 4096, 5000, 8192*3 + 5} {
		for at := 0; at < n; at += max(1, n/13) {
			if got := patternCheckFlipped(n, at); got != at {
				t.Errorf("%d bytes, flipped at %d: found at %d", n, at, got)
			}
		}
		if got := patternCheckFlipped(n, -1); got != -1 {
			t.Errorf("%d good bytes: fault found at %d", n, got)
		}
	}
}

// If the connections of one of several ranks break, the others fail immediately.
func TestOneOfFourBreaksOff(t *testing.T) {
	phase.Long(t)
	o := options(1<<20, withPattern("all_to_all", 4), func(o *move.Spec) { o.Iterations, o.Verify = 1<<30, "none" })
	l, ranks := openConnected(t, "tcp", slices.Repeat([]string{"a"}, 4), o)
	errs := make(chan error, 4)
	for _, r := range ranks {
		go func() { _, err := r.measure(l.Cases[0].Key); errs <- err }()
	}
	time.Sleep(200 * time.Millisecond)
	ranks[3].breakConnections()
	begin := time.Now()
	named := false
	for range ranks {
		err := <-errs
		named = named || err != nil && strings.Contains(err.Error(), "peer 3")
		if err == nil {
			t.Error("a rank came through")
		}
	}
	if took := time.Since(begin); took > 30*time.Second || !named {
		t.Errorf("ended after %v, and rank 3 is named: %v", took, named)
	}
}

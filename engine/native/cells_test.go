package native

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/workload/move"
)

// Both ends of a cell agree on its offset; cells do not overlap and lie within their area.
func TestCellsHaveTheirPlaces(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		ranks := rapid.IntRange(2, 9).Draw(rt, "ranks")
		var list []matrix.Cell
		for from := range ranks {
			for to := range ranks {
				if rapid.IntRange(0, 2).Draw(rt, "sends") > 0 {
					list = append(list, matrix.Cell{
						From: from, To: to, Bytes: rapid.Int64Range(1, 1000).Draw(rt, "bytes"),
					})
				}
			}
		}
		m, err := matrix.New(ranks, list)
		if err != nil {
			rt.Fatal(err)
		}
		o := trafficOf(m)
		o.Op = rapid.SampledFrom([]string{"write", "read"}).Draw(rt, "op")
		all := make([]*cells, ranks)
		for i := range all {
			all[i] = layOut(o, i, nil)
		}
		seen := 0
		for self, l := range all {
			at, peers := uint64(0), []int{}
			for _, f := range l.targets {
				if f.local != at || f.local%128 != 0 {
					rt.Fatalf("rank %d: the cell to %d is at %d, want %d", self, f.peer, f.local, at)
				}
				at += room(f.bytes)
				peers = append(peers, f.peer)
				other := all[f.peer]
				if !slices.Contains(other.sources, cellSource{self, f.bytes, f.remote}) {
					rt.Fatalf("rank %d has no source %d of %d bytes at %d: %v", f.peer, self, f.bytes, f.remote,
						other.sources)
				}
				if f.remote+room(f.bytes) > all[0].exposed[f.peer] {
					rt.Fatalf("rank %d: a cell at %d of %d bytes in an area of %d", f.peer, f.remote, f.bytes,
						all[0].exposed[f.peer])
				}
				seen++
			}
			own := uint64(o.OwnBytes(self))
			if own != l.own.bytes || own > 0 && (l.own.local != at || l.own.local%128 != 0 ||
				l.own.remote+room(own) != l.exposed[self]) {
				rt.Fatalf("rank %d: its own cell is %+v, behind %d bytes of others", self, l.own, at)
			}
			at += room(own)
			if at != l.local[self] || !slices.Equal(peers, o.Targets(self)) {
				rt.Fatalf("rank %d: %d bytes, want %d; targets %v, want %v", self, l.local[self], at, peers,
					o.Targets(self))
			}
			at, peers = 0, []int{}
			for _, s := range l.sources {
				if s.offset != at {
					rt.Fatalf("rank %d: the cell of %d is at %d, want %d", self, s.peer, s.offset, at)
				}
				at += room(s.bytes)
				peers = append(peers, s.peer)
			}
			at += room(own)
			if at != l.exposed[self] || !slices.Equal(peers, o.Sources(self)) {
				rt.Fatalf("rank %d: %d bytes, want %d; sources %v, want %v", self, l.exposed[self], at, peers,
					o.Sources(self))
			}
			want := -1
			for _, f := range l.targets {
				if want < 0 || f.bytes > l.largest[self] {
					want = f.peer
				}
				if f.bytes == l.largest[self] {
					want = f.peer
					break
				}
			}
			if l.probed[self] != want {
				rt.Fatalf("rank %d probes its path to %d, want %d: %v", self, l.probed[self], want, l.targets)
			}
		}
		if seen != o.Matrix.NonZero() {
			rt.Fatalf("%d cells of %d", seen, o.Matrix.NonZero())
		}
	})
}

// A matrix that exceeds memory is refused before anything is allocated.
func TestMemoryOfAMatrix(t *testing.T) {
	m := matrixOf(t, 3, matrix.Cell{From: 0, To: 1, Bytes: 1 << 50}, matrix.Cell{From: 1, To: 2, Bytes: 1 << 50})
	_, err := tryCases(t, "shm", 3, trafficOf(m))
	// twice each cell, and probe space for ranks 0 and 1
	if want := fmt.Sprintf("3 ranks with the cells of their matrix need %.4g GiB of memory on this node",
		6*float64(1<<20)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	other := trafficOf(generated(matrix.Ring(3, 7)))
	for name, cases := range map[string][]move.Spec{
		"different matrices":         {trafficOf(generated(matrix.Ring(3, 5))), other},
		"of 3 ranks for a case of 2": {trafficOf(generated(matrix.Ring(3, 5)), func(o *move.Spec) { o.Ranks = 2 })},
	} {
		if _, err := tryCases(t, "shm", 3, cases...); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

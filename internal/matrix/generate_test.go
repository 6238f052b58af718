package matrix

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func sums(m *Matrix) (sent, received []int64) {
	sent, received = make([]int64, m.Ranks()), make([]int64, m.Ranks())
	for c := range m.Cells() {
		sent[c.From] += c.Bytes
		received[c.To] += c.Bytes
	}
	return sent, received
}

func all(v int64, of []int64) bool {
	return !slices.ContainsFunc(of, func(x int64) bool { return x != v })
}

// Every generator gives each rank the traffic of its definition, and no rank sends to itself.
func TestGeneratorsGiveWhatTheyPromise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 40).Draw(t, "ranks")
		one := rapid.IntRange(0, n-1).Draw(t, "rank")
		bytes := rapid.Int64Range(1, 1<<40).Draw(t, "bytes")
		seed := rapid.Uint64().Draw(t, "seed")
		peers := rapid.IntRange(1, n-1).Draw(t, "peers")
		exponent := rapid.Float64Range(0, 5).Draw(t, "exponent")
		must := func(m *Matrix, err error) *Matrix {
			if err != nil {
				t.Fatal(err)
			}
			for c := range m.Cells() {
				if c.From == c.To || c.Bytes < 1 {
					t.Fatalf("cell %v", c)
				}
			}
			return m
		}
		for name, c := range map[string]struct {
			m              *Matrix
			cells          int
			sent, received int64 // of each rank; -1: it differs
		}{
			"uniform":     {must(Uniform(n, bytes)), n * (n - 1), bytes * int64(n-1), bytes * int64(n-1)},
			"ring":        {must(Ring(n, bytes)), n, bytes, bytes},
			"incast":      {must(Incast(n, one, bytes)), n - 1, -1, -1},
			"outcast":     {must(Outcast(n, one, bytes)), n - 1, -1, -1},
			"permutation": {must(Permutation(n, bytes, seed)), n, bytes, bytes},

			"blocks": {must(BlockDiagonal(2*n, n, bytes)), 2 * n * (n - 1), bytes * int64(n-1), bytes * int64(n-1)},
			"sparse": {must(RandomSparse(n, peers, bytes, seed)), n * peers, bytes * int64(peers), -1},
			"zipf":   {must(Zipf(n, bytes, exponent, seed)), -1, bytes, -1},
		} {
			sent, received := sums(c.m)
			if c.cells >= 0 && c.m.NonZero() != c.cells || c.sent >= 0 && !all(c.sent, sent) ||
				c.received >= 0 && !all(c.received, received) {
				t.Fatalf("%s: %d cells, sent %v, received %v", name, c.m.NonZero(), sent, received)
			}
		}
		in, out := must(Incast(n, one, bytes)), must(Outcast(n, one, bytes))
		if !slices.Equal(in.Receivers(), []int{one}) || !slices.Equal(out.Senders(), []int{one}) {
			t.Fatalf("incast to %v, outcast from %v", in.Receivers(), out.Senders())
		}
		for c := range must(BlockDiagonal(2*n, n, bytes)).Cells() {
			if c.From/n != c.To/n {
				t.Fatalf("a block sends to another: %v", c)
			}
		}
	})
}

func TestSeedsDecide(t *testing.T) {
	for name, make := range map[string]func(seed uint64) (*Matrix, error){
		"permutation": func(s uint64) (*Matrix, error) { return Permutation(64, 1, s) },
		"sparse":      func(s uint64) (*Matrix, error) { return RandomSparse(64, 3, 1, s) },
		"zipf":        func(s uint64) (*Matrix, error) { return Zipf(64, 1e6, 1, s) },
	} {
		var cells [3][]Cell
		for i, seed := range []uint64{7, 7, 8} {
			m, err := make(seed)
			if err != nil {
				t.Fatal(err)
			}
			cells[i] = slices.Collect(m.Cells())
		}
		if !slices.Equal(cells[0], cells[1]) || slices.Equal(cells[0], cells[2]) {
			t.Errorf("%s: the same seed gives something else, or another seed the same", name)
		}
	}
}

func TestZipfFollowsItsLaw(t *testing.T) {
	m, err := Zipf(101, 1e12, 1.2, 3)
	if err != nil {
		t.Fatal(err)
	}
	_, received := sums(m)
	slices.Sort(received)
	slices.Reverse(received)
	for _, k := range []int{2, 10, 50} { // no rank sends to itself, so the most popular receives from one less
		if got, want := float64(received[k-1])/float64(received[k]),
			math.Pow(float64(k+1)/float64(k), 1.2); math.Abs(got/want-1) > 0.02 {
			t.Errorf("receiver %d gets %v times as much as the next, want %v", k, got, want)
		}
	}
}

// A matrix of the largest numbers does not overflow.
func TestLargestSizes(t *testing.T) {
	m, err := Zipf(2, math.MaxInt64/2, 100, 1)
	if err != nil || m.Total() != math.MaxInt64-1 {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := Zipf(2, math.MaxInt64, 1, 1); err == nil {
		t.Errorf("%d bytes were accepted twice", m.Total())
	}
}

func TestGeneratorsRefuse(t *testing.T) {
	for name, make := range map[string]func() (*Matrix, error){
		"one rank":       func() (*Matrix, error) { return Uniform(1, 1) },
		"no rank":        func() (*Matrix, error) { return Ring(0, 1) },
		"no bytes":       func() (*Matrix, error) { return Ring(2, 0) },
		"too many ranks": func() (*Matrix, error) { return Ring(MaxRanks+1, 1) },
		"too many cells": func() (*Matrix, error) { return Uniform(5000, 1) },
		"too much":       func() (*Matrix, error) { return Uniform(4, math.MaxInt64/2) },
		"no such target": func() (*Matrix, error) { return Incast(4, 4, 1) },
		"no such source": func() (*Matrix, error) { return Outcast(4, -1, 1) },
		"blocks":         func() (*Matrix, error) { return BlockDiagonal(10, 4, 1) },
		"block of one":   func() (*Matrix, error) { return BlockDiagonal(10, 1, 1) },
		"peers":          func() (*Matrix, error) { return RandomSparse(4, 4, 1, 1) },
		"exponent":       func() (*Matrix, error) { return Zipf(4, 1, math.NaN(), 1) },
		"permutation":    func() (*Matrix, error) { return Permutation(1, 1, 1) },
	} {
		if m, err := make(); err == nil {
			t.Errorf("%s: got %d cells", name, m.NonZero())
		}
	}
}

// Eight of 65536 ranks with traffic need as much memory as eight ranks.
func TestMemoryIsThatOfTheCells(t *testing.T) {
	cells := make([]Cell, 8)
	for i := range cells {
		cells[i] = Cell{From: i * 8000, To: i*8000 + 1, Bytes: 1}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := New(MaxRanks, cells)
	runtime.ReadMemStats(&after)
	if err != nil || after.TotalAlloc-before.TotalAlloc > 64<<10 {
		t.Errorf("%d bytes for %d cells, %v", after.TotalAlloc-before.TotalAlloc, m.NonZero(), err)
	}
}

func TestAMatrixOf1024RanksReadsBack(t *testing.T) {
	m, err := Uniform(1024, 1572864000)
	if err != nil {
		t.Fatal(err)
	}
	reader, writer := pipe(m)
	defer reader.Close()
	back, err := Parse(reader, "m.txt", 1024)
	if err != nil || back.NonZero() != 1024*1023 {
		t.Fatal(err)
	}
	if err := <-writer; err != nil {
		t.Fatal(err)
	}
}

package ep

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/workload/ep/routing"
)

// world is the memory of all ranks, in which messages and rows are words that identify themselves.
type world struct {
	s             *Spec
	t             *routing.Table
	layouts       []*Layout
	sources, sink [][]byte
}

func newWorld(s *Spec, t *routing.Table) *world {
	w := &world{s: s, t: t}
	for rank := range t.Ranks {
		l := s.LayOut(t, rank)
		w.layouts = append(w.layouts, l)
		w.sources, w.sink = append(w.sources, make([]byte, l.Source)), append(w.sink, make([]byte, l.Sink()))
	}
	return w
}

// label is the word at the beginning of a message or row, never 0.
func label(rank, token, k int) uint64 {
	return 1<<60 | uint64(rank)<<40 | uint64(token)<<10 | uint64(k)
}

// put moves the requests of an operation into a half, byte by byte, and fails if two write to one place.
func (w *world) put(operation, half int) error {
	for rank, l := range w.layouts {
		for _, p := range l.Parts[operation].Puts {
			at := l.Parts[operation].Sink + int64(half)*l.Parts[operation].Half + p.Remote
			if p.Remote+p.Bytes > l.Parts[operation].Half || p.Local+p.Bytes > l.Source {
				return fmt.Errorf("rank %d puts %+v out of its part", rank, p)
			}
			to := w.sink[p.Peer][at : at+p.Bytes]
			if slices.ContainsFunc(to, func(b byte) bool { return b != 0 }) {
				return fmt.Errorf("rank %d puts %+v where something is", rank, p)
			}
			copy(to, w.sources[rank][p.Local:p.Local+p.Bytes])
		}
	}
	return nil
}

func (w *world) word(memory []byte, at int64) uint64 { return binary.LittleEndian.Uint64(memory[at:]) }

// For any routes and layout, each message, row and count arrives at the offset where its rank expects it, nothing is
// written twice, and the moved bytes are as computed.
func TestAnyLayout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Spec{
			Mode:          rapid.SampledFrom([]string{"e2e", "dispatch", "combine"}).Draw(t, "mode"),
			Layout:        rapid.SampledFrom([]string{"message", "rank", "packed"}).Draw(t, "layout"),
			DispatchDtype: rapid.SampledFrom([]string{"fp8", "bf16"}).Draw(t, "dtype"),

			Scales: rapid.SampledFrom([]string{"f32", "ue8m0"}).Draw(t, "scales"),
			Hidden: 128 * rapid.Int64Range(1, 3).Draw(t, "hidden"), Ranks: rapid.Int64Range(2, 6).Draw(t, "ranks"),
			PerRank: rapid.Int64Range(1, 5).Draw(t, "experts"),
		}
		if rapid.Bool().Draw(t, "posted") {
			s.Memory, s.Initiated = "vram", "host"
		}
		s.Routes = routing.Settings{
			Ranks: int(s.Ranks), PerRank: int(s.PerRank), TopK: rapid.IntRange(1, 5).Draw(t, "top_k"),
			Kind: routing.Uniform, Seed: rapid.Uint64().Draw(t, "seed"),
			Tokens: routing.Tokens{Least: 0, Most: 12}, Masked: rapid.SampledFrom([]float64{0, 0.4}).Draw(t, "masked"),
		}
		table, err := s.Table()
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(s, table)
		half := rapid.IntRange(0, 1).Draw(t, "half")
		if s.Dispatches() {
			w.checkDispatch(t, half)
		}
		if s.Combines() {
			w.checkCombine(t, half)
		}
		w.checkBytes(t)
	})
}

func (w *world) checkDispatch(t *rapid.T, half int) {
	for rank, l := range w.layouts {
		for _, c := range l.Copies {
			binary.LittleEndian.PutUint64(w.sources[rank][c.At:], label(rank, c.Token, 0))
		}
		for peer, at := range l.From {
			for e := range w.t.PerRank {
				binary.LittleEndian.PutUint32(w.sources[rank][at+int64(4*e):], 1<<30|l.Counts[peer*w.t.PerRank+e])
			}
		}
	}
	if err := w.put(0, half); err != nil {
		t.Fatal(err)
	}
	came := 0
	for rank, l := range w.layouts {
		base := l.Parts[0].Sink + int64(half)*l.Parts[0].Half
		for _, m := range l.Come {
			if got := w.word(w.sink[rank], base+m.At); got != label(m.Rank, m.Token, 0) {
				t.Fatalf("rank %d finds %x where the message %+v is to be", rank, got, m)
			}
			if e := w.t.Selection(m.Rank, m.Token, m.K); w.t.RankOf(e) != rank {
				t.Fatalf("rank %d gets a message for expert %d", rank, e)
			}
		}
		came += len(l.Come)
		for source, at := range l.At {
			for e := range w.t.PerRank {
				got, want := binary.LittleEndian.Uint32(w.sink[rank][base+at+int64(4*e):]),
					l.Counts[(int(w.s.Ranks)+source)*w.t.PerRank+e]
				if got != 1<<30|want {
					t.Fatalf("rank %d finds count %x of source %d for its expert %d, want %d", rank, got, source, e,
						want)
				}
			}
		}
	}
	a, want := w.t.Amounts(), 0
	for from := range a.Pairs {
		for to := range a.Pairs {
			if w.s.Layout == "rank" {
				want += a.Distinct[from][to]
			} else {
				want += a.Pairs[from][to]
			}
		}
	}
	if came != want {
		t.Fatalf("%d messages come, want %d", came, want)
	}
}

func (w *world) checkCombine(t *rapid.T, half int) {
	for rank, l := range w.layouts {
		for _, m := range l.Made {
			binary.LittleEndian.PutUint64(w.sources[rank][m.At:], label(m.Rank, m.Token, m.K))
		}
		for i, sum := range l.Sums[0].List { // of layout rank: the first of its terms stands for it
			if sum.N == 0 || !slices.ContainsFunc(l.Parts[1].Puts, func(p Put) bool {
				return p.Local <= sum.To && sum.To < p.Local+p.Bytes && (w.s.Posts() || p.Ready == i+1)
			}) {
				t.Fatalf("sum %d of rank %d is %+v, and is not sent", i, rank, sum)
			}
			copy(w.sources[rank][sum.To:sum.To+8], w.sources[rank][l.Sums[0].Terms[sum.First].At:])
		}
	}
	if err := w.put(1, half); err != nil {
		t.Fatal(err)
	}
	for rank, l := range w.layouts {
		base := l.Parts[1].Sink + int64(half)*l.Parts[1].Half
		for _, b := range l.Back {
			if got := w.word(w.sink[rank], base+b.At); got != label(rank, b.Token, b.K) {
				t.Fatalf("rank %d finds %x where the row %+v is to be", rank, got, b)
			}
		}
		if len(l.Sums[1].List) != w.t.Tokens[rank] {
			t.Fatalf("rank %d has %d sums for %d tokens", rank, len(l.Sums[1].List), w.t.Tokens[rank])
		}
		for token, sum := range l.Sums[1].List {
			last := -1
			for _, term := range l.Sums[1].Terms[sum.First : sum.First+sum.N] {
				got := w.word(w.sink[rank], base+term.At)
				k := int(got & 1023)
				if got != label(rank, token, k) || k <= last ||
					w.s.Layout != "rank" && term.Weight != w.t.Weights[rank][token*w.t.TopK+k] {
					t.Fatalf("the sum of token %d of rank %d has %x with weight %v", token, rank, got, term.Weight)
				}
				last = k
			}
		}
	}
}

// checkBytes compares the bytes of the requests with sizes.
func (w *world) checkBytes(t *rapid.T) {
	z := w.s.sizes(w.t)
	for rank, l := range w.layouts {
		sent := make([]int64, w.t.Ranks)
		for _, part := range l.Parts {
			for _, p := range part.Puts {
				sent[p.Peer] += p.Bytes
			}
			if w.s.Posts() && w.s.Layout != "message" && len(part.Puts) > w.t.Ranks {
				t.Fatalf("rank %d has %d puts for %d ranks", rank, len(part.Puts), w.t.Ranks)
			}
		}
		if !slices.Equal(sent, z.sent[rank]) {
			t.Fatalf("rank %d sends %v, and sizes says %v", rank, sent, z.sent[rank])
		}
	}
}

package model

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// unit is one head of one layer for one token.
type unit struct{ layer, head, token int }

// holds lists a rank's part of the cache by enumeration: vLLM's rules without the arithmetic of layout.go.
func holds(m *Model, p Parallel, rank, tokens int) map[unit]bool {
	heads, _ := m.cached()
	tensor, context, stage := rank%p.TP, rank/p.TP%p.CP, rank/p.TP/p.CP
	sizes := make([]int, p.PP)
	for i := range m.Layers / p.PP * p.PP {
		sizes[i%p.PP]++
	}
	for i := range m.Layers % p.PP {
		sizes[p.PP-2-i]++
	}
	first := 0
	for _, s := range sizes[:stage] {
		first += s
	}
	out := map[unit]bool{}
	for layer := first; layer < first+sizes[stage]; layer++ {
		oldest := 0
		if m.Windows != nil && m.Windows[layer] {
			oldest = max(tokens-m.Window, 0)
		}
		for head := range heads {
			mine := head*p.TP/heads == tensor
			if p.TP > heads {
				mine = tensor*heads/p.TP == head
			}
			for token := oldest; mine && token < tokens; token++ {
				if token%p.CP == context {
					out[unit{layer, head, token}] = true
				}
			}
		}
	}
	return out
}

func parallel(t *rapid.T, name string, m *Model) Parallel {
	heads, _ := m.cached()
	fits := func(tp int) bool { return (heads%tp == 0 || tp%heads == 0) && m.Heads%tp == 0 }
	return Parallel{
		TP: rapid.SampledFrom([]int{1, 2, 3, 4, 6, 8, 12}).Filter(fits).Draw(t, name+" tp"),
		PP: rapid.IntRange(1, min(4, m.Layers)).Draw(t, name+" pp"), CP: rapid.IntRange(1, 4).Draw(t, name+" cp"),
	}
}

func smallModel(t *rapid.T) *Model {
	m := &Model{
		Layers: rapid.IntRange(1, 7).Draw(t, "layers"), Hidden: 48, Heads: 24,
		KVHeads: rapid.SampledFrom([]int{1, 2, 3, 4, 6, 12}).Draw(t, "kv heads"), HeadDim: 2, DType: "bfloat16",
	}
	if rapid.Bool().Draw(t, "latent") {
		m.MLA = &Latent{Rank: 5, Rope: 2, Nope: 2, ValueDim: 2}
	}
	if rapid.Bool().Draw(t, "windows") {
		m.Window, m.Windows = rapid.IntRange(1, 9).Draw(t, "window"),
			rapid.SliceOfN(rapid.Bool(), m.Layers, m.Layers).Draw(t, "layers with it")
	}
	return m
}

// Every decode rank gets all of its part once, from ranks that have it, for any parallelism of both sides.
func TestEveryDecodeRankGetsItsCacheOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := smallModel(t)
		prefill, decode := parallel(t, "prefill", m), parallel(t, "decode", m)
		for _, p := range []Parallel{prefill, decode} {
			if _, err := p.check(m); err != nil {
				t.Fatal(err)
			}
		}
		tokens := rapid.IntRange(1, 20).Draw(t, "tokens")
		_, width := m.cached()
		has, needs := make([]map[unit]bool, prefill.Ranks()), make([]map[unit]bool, decode.Ranks())
		for r := range has {
			has[r] = holds(m, prefill, r, tokens)
		}
		for r := range needs {
			needs[r] = holds(m, decode, r, tokens)
		}
		got := make([]int64, decode.Ranks())
		for _, f := range flows(m, "fp8", prefill, decode) {
			shared := int64(0)
			for u := range needs[f.to] {
				if has[f.from][u] {
					shared++
				}
			}
			if sent := f.of(tokens, m.Window); sent != shared*int64(width) {
				t.Fatalf("rank %d sends %d bytes to rank %d, and they share %d units of %d", f.from, sent, f.to, shared,
					width)
			}
			got[f.to] += f.of(tokens, m.Window)
		}
		for r, bytes := range got {
			if want := int64(len(needs[r]) * width); bytes != want {
				t.Fatalf("decode rank %d of %s gets %d bytes of %d from %s", r, decode, bytes, want, prefill)
			}
		}
	})
}

// Copies of a head are used in turn, so that the load of prefill ranks is balanced.
func TestCopiesShareTheWork(t *testing.T) {
	m, err := Lookup("deepseek-r1")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		prefill, decode int
		senders         []int // of each decode rank
	}{
		{8, 8, []int{0, 1, 2, 3, 4, 5, 6, 7}}, {4, 8, []int{0, 0, 1, 1, 2, 2, 3, 3}}, {8, 4, []int{0, 2, 4, 6}},
		{8, 1, []int{0}}, {1, 4, []int{0, 0, 0, 0}},
	} {
		var senders []int
		for to := range c.decode {
			for _, f := range flows(m, "bfloat16", Parallel{c.prefill, 1, 1}, Parallel{c.decode, 1, 1}) {
				if f.to == to {
					senders = append(senders, f.from)
					if got := f.of(16000, 0); got != 16000*70272 {
						t.Errorf("tp %d to %d: a rank gets %d bytes, not the whole latent cache", c.prefill, c.decode,
							got)
					}
				}
			}
		}
		if !slices.Equal(senders, c.senders) {
			t.Errorf("tp %d to %d: senders %v, want %v", c.prefill, c.decode, senders, c.senders)
		}
	}
}

func TestStagesAreThoseOfVLLM(t *testing.T) {
	for _, c := range []struct {
		layers, pp int
		sizes      []int
	}{
		{61, 4, []int{15, 15, 16, 15}}, {61, 2, []int{31, 30}}, {126, 8, []int{15, 16, 16, 16, 16, 16, 16, 15}},
		{94, 4, []int{23, 24, 24, 23}}, {5, 5, []int{1, 1, 1, 1, 1}}, {7, 1, []int{7}},
	} {
		var sizes []int
		at := 0
		for s := range c.pp {
			first, end := Parallel{PP: c.pp}.stage(c.layers, s)
			if first != at {
				t.Errorf("%d layers: stage %d begins at %d", c.layers, s, first)
			}
			sizes, at = append(sizes, end-first), end
		}
		if !slices.Equal(sizes, c.sizes) || at != c.layers {
			t.Errorf("%d layers in %d stages: %v, want %v", c.layers, c.pp, sizes, c.sizes)
		}
	}
}

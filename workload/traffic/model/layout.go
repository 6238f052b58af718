package model

import "fmt"

// Parallel is the division of a model over the ranks of a worker: tensor, pipeline and context parallelism. The ranks
// of a stage are adjacent, within a stage those of a context, within a context the tensor ranks:
//
//	rank = (stage · CP + context) · TP + tensor
type Parallel struct{ TP, PP, CP int }

// Ranks is the size of a worker.
func (p Parallel) Ranks() int { return p.TP * p.PP * p.CP }

func (p Parallel) String() string { return fmt.Sprintf("tp %d pp %d cp %d", p.TP, p.PP, p.CP) }

// check validates the division for a model, and returns which of tp, pp and cp is wrong.
func (p Parallel) check(m *Model) (which string, err error) {
	const most = 1 << 12 // ranks of a worker
	if p.TP < 1 || p.PP < 1 || p.CP < 1 || p.TP > most || p.PP > most || p.CP > most || p.Ranks() > most {
		return p.widest(), fmt.Errorf("%s: each is above 0, and a worker has at most %d ranks", p, most)
	}
	heads, _ := m.cached()
	if p.TP <= heads && heads%p.TP != 0 || p.TP > heads && p.TP%heads != 0 {
		return "tp", fmt.Errorf("%d KV heads cannot be divided between %d tensor ranks: one number has to be a multiple of the other",
			heads, p.TP)
	}
	if m.Heads%p.TP != 0 {
		return "tp", fmt.Errorf("%d attention heads cannot be divided between %d tensor ranks", m.Heads, p.TP)
	}
	if p.PP > m.Layers {
		return "pp", fmt.Errorf("%d stages for %d layers", p.PP, m.Layers)
	}
	return "", nil
}

// widest returns the parameter that is not above 0, or else the largest.
func (p Parallel) widest() string {
	name, value := "tp", p.TP
	for _, other := range []struct {
		name  string
		value int
	}{{"pp", p.PP}, {"cp", p.CP}} {
		if value > 0 && (other.value < 1 || other.value > value) {
			name, value = other.name, other.value
		}
	}
	return name
}

// stage returns the layers of a stage, from first up to end. Remaining layers go to the stages before the last, one
// each, as the last one and, if possible, the first also hold the embeddings. This is vLLM's division (get_pp_indices
// in vllm/distributed/utils.py).
func (p Parallel) stage(layers, stage int) (first, end int) {
	each, more := layers/p.PP, layers%p.PP
	extra := func(s int) int { // of the stages before s
		from := p.PP - 1 - more // the first stage with one more
		return min(max(s-from, 0), more)
	}
	return each*stage + extra(stage), each*(stage+1) + extra(stage+1)
}

// heads returns the KV heads of a tensor rank, from first up to end, and the index of its copy: with more ranks than
// heads, neighbouring ranks hold copies of a head, as in vLLM and SGLang.
func (p Parallel) heads(heads, tensor int) (first, end, copied, copies int) {
	if p.TP <= heads {
		each := heads / p.TP
		return each * tensor, each * (tensor + 1), 0, 1
	}
	copies = p.TP / heads
	head := tensor / copies
	return head, head + 1, tensor % copies, copies
}

// flow is the transfer from a prefill rank to a decode rank of the worker's partner.
type flow struct {
	from, to       int   // ranks in their workers
	bytes          int64 // of one token in one layer
	full, windowed int   // numbers of layers of either kind
	step, offset   int   // the tokens with index offset modulo step
}

// flows returns all transfers between a prefill worker and a decode worker. Every decode rank gets its whole part of
// the cache, each piece from one rank that has it; several receivers use the copies in turn.
//
// With context parallelism token i is on context rank i modulo CP, as in vLLM's interleaving.
func flows(m *Model, kv DType, prefill, decode Parallel) []flow {
	heads, width := m.cached()
	var all []flow
	for from := range prefill.Ranks() {
		for to := range decode.Ranks() {
			f := flow{from: from, to: to}
			shared := prefill.sharedHeads(decode, heads, from%prefill.TP, to%decode.TP)
			f.bytes = int64(shared) * int64(width) * int64(kv.Bytes())
			f.layers(m, prefill, decode)
			meets := f.tokens(prefill, decode)
			if shared > 0 && f.full+f.windowed > 0 && meets {
				all = append(all, f)
			}
		}
	}
	return all
}

// sharedHeads returns the number of heads that a prefill rank sends to a decode rank.
func (p Parallel) sharedHeads(decode Parallel, heads, from, to int) int {
	first, end, has, copies := p.heads(heads, from)
	needFirst, needEnd, needs, needers := decode.heads(heads, to)
	if has != needs*copies/needers {
		return 0
	}
	return max(min(end, needEnd)-max(first, needFirst), 0)
}

func (f *flow) layers(m *Model, prefill, decode Parallel) {
	first, end := prefill.stage(m.Layers, f.from/(prefill.TP*prefill.CP))
	needFirst, needEnd := decode.stage(m.Layers, f.to/(decode.TP*decode.CP))
	first, end = max(first, needFirst), min(end, needEnd)
	if first >= end {
		return
	}
	f.windowed = m.windowed(first, end)
	f.full = end - first - f.windowed
}

// tokens returns the tokens that are on both context ranks; false if there are none.
func (f *flow) tokens(prefill, decode Parallel) bool {
	has, needs := f.from/prefill.TP%prefill.CP, f.to/decode.TP%decode.CP
	f.step = leastCommonMultiple(prefill.CP, decode.CP)
	for f.offset = has; f.offset < f.step; f.offset += prefill.CP {
		if f.offset%decode.CP == needs {
			return true
		}
	}
	return false
}

func leastCommonMultiple(a, b int) int {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}

// of returns the bytes of a prompt in the flow. A layer with a window has only the last tokens.
func (f *flow) of(tokens, window int) int64 {
	n := int64(f.full) * f.count(0, tokens)
	if f.windowed > 0 {
		n += int64(f.windowed) * f.count(max(tokens-window, 0), tokens)
	}
	return n * f.bytes
}

// count returns the number of tokens from first up to end in the flow.
func (f *flow) count(first, end int) int64 {
	before := func(n int) int { return (n - f.offset + f.step - 1) / f.step } // offset < step, so this is 0 for n = 0
	return int64(before(end) - before(first))
}

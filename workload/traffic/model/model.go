// Package model computes the traffic between the ranks of separate prefill and decode workers of a model from its
// requests: for each batch the matrix of the KV cache that the prefill ranks send to the decode ranks, and the time of
// the prefill before it.
//
// It does what NIXL's inference_workload_matgen does (its golden numbers are in
// the tests), and differs where that is wrong:
//
//   - The sizes of Qwen3-30B and DeepSeek-R1 there are 8 and 8.7 times too large:
//     the head size of Qwen3 is not hidden/heads, and DeepSeek caches a latent
//     vector and not heads (Model.KVBytes).
//   - Tensor parallelism does not divide what cannot be divided: with more ranks
//     than KV heads, or with a latent vector, every rank holds a whole head, and
//     every decode rank needs one (layout.go). There each rank sends a share.
//   - Context parallelism divides tokens and not heads: each decode rank gets
//     from every prefill rank the tokens that this one has.
//   - Attention costs the sum of the squares of the lengths of a batch; there it
//     is the square of the sum, and all of it again times the batch size.
//   - Context parallelism divides the time to compute as well; experts that a
//     token does not visit cost nothing; layers with a sliding window keep and
//     read no more than the window.
//   - Pipeline parallelism, more tensor parallelism at the prefill than at the
//     decode, and different numbers of workers are possible; incomplete workers
//     are refused and not dropped.
//   - Lengths are drawn from a seed.
package model

import (
	"fmt"
	"slices"
)

// Model is the architecture of a model, as far as traffic and time depend on it. Comments have the names of the fields
// in a config.json of Hugging Face's transformers.
type Model struct {
	Name   string
	Source string // source of its numbers

	Layers  int // num_hidden_layers
	Hidden  int // hidden_size
	Heads   int // num_attention_heads
	KVHeads int // num_key_value_heads
	HeadDim int // head_dim; of keys and of values

	MLA *Latent // nil: keys and values are cached per head

	Window  int    // sliding_window: tokens that a windowed layer attends to
	Windows []bool // by layer: whether it has the window; nil: none

	Intermediate int // intermediate_size: width of a dense MLP
	Experts      *Experts

	DType DType // of the weights, and of the cache unless another is given
}

// Latent is the multi-head latent attention of DeepSeek-V2 (arXiv:2405.04434,
// section 2.1): one compressed vector for each token and layer, which all heads
// share.
type Latent struct {
	Rank     int // kv_lora_rank: the compressed keys and values
	Rope     int // qk_rope_head_dim: the keys that carry positions, shared by all heads
	Nope     int // qk_nope_head_dim
	ValueDim int // v_head_dim
	Query    int // q_lora_rank; 0: queries are not compressed
}

// Experts is a mixture of experts in place of the dense MLP.
type Experts struct {
	Count  int // num_experts, num_local_experts or n_routed_experts
	Active int // num_experts_per_tok
	Shared int // n_shared_experts: visited by every token
	Width  int // moe_intermediate_size: width of one expert
	Dense  int // first_k_dense_replace: first layers that have a dense MLP instead
}

// DType is a type of numbers.
type DType string

// dtypes are the bytes of a number of each type.
var dtypes = map[DType]int{"float32": 4, "bfloat16": 2, "float16": 2, "fp8": 1, "int8": 1}

// aliases are other spellings of types.
var aliases = map[DType]DType{
	"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "half": "float16", "fp8_e4m3": "fp8", "fp8_e5m2": "fp8",
	"float8_e4m3fn": "fp8", "float8_e5m2": "fp8",
}

// DTypes are the names of the types that a cache can have.
func DTypes() []string { return []string{"bfloat16", "float16", "float32", "fp8", "int8"} }

// ParseDType reads the name of a type in its usual spellings.
func ParseDType(name string) (DType, error) {
	t := DType(name)
	if a, ok := aliases[t]; ok {
		t = a
	}
	if _, ok := dtypes[t]; !ok {
		return "", fmt.Errorf("unknown type %q: use %s", name, sentence(DTypes()))
	}
	return t, nil
}

// Bytes is the size of one number.
func (t DType) Bytes() int { return dtypes[t] }

// cached returns the number of KV heads and the numbers that each of them caches for a token in a layer: a key and a
// value, or the latent vector, which counts as one head (as in vLLM and SGLang).
func (m *Model) cached() (heads, width int) {
	if m.MLA != nil {
		return 1, m.MLA.Rank + m.MLA.Rope
	}
	return m.KVHeads, 2 * m.HeadDim
}

// KVBytes returns the size of a prompt's cache in all layers. Each layer keeps for a token
//
//	2 · KV heads · head size · bytes of a number      (GQA, arXiv:2305.13245)
//	(latent rank + rope size) · bytes of a number     (MLA, arXiv:2405.04434, table 1)
//
// A layer with a sliding window keeps the last tokens only (Mistral 7B,
// arXiv:2310.06825, section 2: the rolling buffer).
func (m *Model) KVBytes(tokens int, kv DType) int64 {
	heads, width := m.cached()
	windowed := m.windowed(0, m.Layers)
	sum := int64(m.Layers-windowed)*int64(tokens) + int64(windowed)*int64(min(tokens, m.Window))
	return sum * int64(heads) * int64(width) * int64(kv.Bytes())
}

// windowed returns the number of layers from first up to end that have the window.
func (m *Model) windowed(first, end int) int {
	if m.Windows == nil {
		return 0
	}
	n := 0
	for _, w := range m.Windows[first:end] {
		if w {
			n++
		}
	}
	return n
}

// WithoutWindows returns the model as served by an engine that keeps all tokens in all layers.
func (m *Model) WithoutWindows() *Model {
	whole := *m
	whole.Window, whole.Windows = 0, nil
	return &whole
}

// maxCount limits layers, heads and sizes of a model.
const maxCount = 1 << 20

// maxPerToken times MaxTokens is below 2⁶³, so that sizes of one prompt are exact.
const maxPerToken = 1e11

// Check validates the numbers of a model.
func (m *Model) Check() error {
	for _, n := range []struct {
		name  string
		value int
	}{{"layers", m.Layers}, {"hidden size", m.Hidden}, {"attention heads", m.Heads}, {"KV heads", m.KVHeads}} {
		if n.value < 1 || n.value > maxCount {
			return fmt.Errorf("%d %s: a model has 1 to %d", n.value, n.name, maxCount)
		}
	}
	if err := m.checkAttention(); err != nil {
		return err
	}
	heads, width := m.cached()
	if perToken := float64(m.Layers) * float64(heads) * float64(width) * 4; perToken > maxPerToken {
		return fmt.Errorf("a token that takes %.3g bytes", perToken)
	}
	if e := m.Experts; e != nil && (e.Count < 1 || e.Active < 1 || e.Active > e.Count || e.Width < 1 ||
		e.Width > 1<<24 || e.Shared < 0 || e.Shared > 1<<16 || e.Dense < 0 || e.Dense > m.Layers) {
		return fmt.Errorf("experts of which %d of %d are active, each %d wide, with %d shared and %d dense layers",
			e.Active, e.Count, e.Width, e.Shared, e.Dense)
	}
	if m.Intermediate < 0 || m.Intermediate > 1<<24 {
		return fmt.Errorf("an MLP %d wide", m.Intermediate)
	}
	if _, ok := dtypes[m.DType]; !ok {
		return fmt.Errorf("unknown type %q: use %s", m.DType, sentence(DTypes()))
	}
	return nil
}

func (m *Model) checkAttention() error {
	if l := m.MLA; l != nil {
		for _, n := range []int{l.Rank, l.Rope, l.Nope, l.ValueDim} {
			if n < 1 || n > maxCount {
				return fmt.Errorf("latent attention with a rank of %d and heads of %d + %d and %d", l.Rank, l.Nope,
					l.Rope, l.ValueDim)
			}
		}
	} else if m.HeadDim < 1 || m.HeadDim > maxCount || m.Heads%m.KVHeads != 0 {
		return fmt.Errorf("%d attention heads of size %d that share %d KV heads", m.Heads, m.HeadDim, m.KVHeads)
	}
	if m.Windows == nil {
		return nil
	}
	if len(m.Windows) != m.Layers || slices.Contains(m.Windows, true) && m.Window < 1 {
		return fmt.Errorf("%d layers with or without a window of %d tokens in a model of %d layers", len(m.Windows),
			m.Window, m.Layers)
	}
	return nil
}

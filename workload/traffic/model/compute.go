package model

// Rule is a rule to estimate the time of a prefill.
type Rule string

// The rules.
const (
	// Published is the rule of NIXL's generator, for comparison with its files: attention 4·s²·H and an MLP of two
	// matrices of 4H, 16·s·H², in each layer. It leaves out other projections, and a causal mask saves nothing.
	// Features unknown to the original are computed as they are: experts, the heads of latent attention, and windows,
	// s·min(s, window) in place of s².
	Published Rule = "published"
	// Full counts all matrices of the layers, and attention of each token to itself
	// and those before it, in a window or all (PaLM, arXiv:2204.02311, appendix B,
	// counts 6·N + 12·L·H·Q·T for forward and backward without mask; forward is a third).
	Full Rule = "full"
	// None takes no time: the transfers follow at once.
	None Rule = "none"
)

// Rules returns the names of the rules.
func Rules() []string { return []string{string(Published), string(Full), string(None)} }

// PublishedFLOPS is the speed of a GPU in the published generator, in operations per second. It is labelled H100, but
// the H100's dense bfloat16 peak is 27 times as high.
const PublishedFLOPS = 36e12

// Compute estimates the time of a prefill.
type Compute struct {
	Rule  Rule
	FLOPS float64 // of one GPU, in operations per second
}

func (c Compute) check() error {
	switch c.Rule {
	case None:
		return nil
	case Published, Full:
	default:
		return due("sleep", "unknown rule %q: use %s", c.Rule, sentence(Rules()))
	}
	if !(c.FLOPS > 0 && c.FLOPS < 1e30) {
		return due("flops", "a GPU of %v operations per second", c.FLOPS)
	}
	return nil
}

// Seconds returns the time of a batch of prompts on a prefill worker. Tensor and context ranks share the work; pipeline
// stages work one after the other, and do not make a batch faster.
func (c Compute) Seconds(m *Model, batch []Request, worker Parallel) float64 {
	if c.Rule == None {
		return 0
	}
	flop := 0.0
	for _, r := range batch {
		flop += c.operations(m, r.ISL)
	}
	return flop / (c.FLOPS * float64(worker.TP) * float64(worker.CP))
}

// operations returns the operations of one prompt; a multiply-add counts as two.
func (c Compute) operations(m *Model, tokens int) float64 {
	s := float64(tokens)
	windowed := float64(m.windowed(0, m.Layers))
	whole := float64(m.Layers) - windowed
	w := float64(min(tokens, m.Window))
	if c.Rule == Full {
		// The first w tokens see 1, 2, … w tokens, those after them w each.
		pairs := whole*s*(s+1)/2 + windowed*(w*s-w*(w-1)/2)
		return 2*pairs*float64(m.attentionWidth()) + s*2*m.activeWeights()
	}
	width := 2 * m.Hidden
	if m.MLA != nil {
		width = m.attentionWidth()
	}
	attention := 2 * (whole*s*s + windowed*s*w) * float64(width)
	dense, sparse := float64(m.Layers), 0.0
	if e := m.Experts; e != nil {
		dense = float64(e.Dense)
		sparse = float64(m.Layers - e.Dense)
	}
	h := float64(m.Hidden)
	mlp := 16*s*h*h*dense + 2*s*sparse*m.expertWeights()
	return attention + mlp
}

// attentionWidth is the size of all heads of a query and of a value together: 2·hidden only if head_dim is
// hidden/heads, which is not so in Qwen3.
func (m *Model) attentionWidth() int {
	if l := m.MLA; l != nil {
		return m.Heads * (l.Nope + l.Rope + l.ValueDim)
	}
	return 2 * m.Heads * m.HeadDim
}

// expertWeights returns the weights that a token uses in one layer: its experts, each of three matrices (gated, as
// SwiGLU), and the router.
func (m *Model) expertWeights() float64 {
	e := m.Experts
	if e == nil {
		return 0
	}
	return float64(m.Hidden) * (3*float64(e.Active+e.Shared)*float64(e.Width) + float64(e.Count))
}

// activeWeights returns the weights that a token uses in all layers, without embeddings, norms and biases.
func (m *Model) activeWeights() float64 {
	dense, sparse := m.Layers, 0
	if m.Experts != nil {
		dense, sparse = m.Experts.Dense, m.Layers-m.Experts.Dense
	}
	mlp := 3 * float64(m.Hidden) * float64(m.Intermediate)
	return float64(m.Layers)*m.projections() + float64(dense)*mlp + float64(sparse)*m.expertWeights()
}

// projections returns the weights of the attention of one layer.
func (m *Model) projections() float64 {
	h, heads := float64(m.Hidden), float64(m.Heads)
	l := m.MLA
	if l == nil {
		return h * float64(m.HeadDim) * float64(2*m.Heads+2*m.KVHeads)
	}
	query := h * heads * float64(l.Nope+l.Rope)
	if l.Query > 0 {
		query = float64(l.Query) * (h + heads*float64(l.Nope+l.Rope))
	}
	down := h * float64(l.Rank+l.Rope)
	up := float64(l.Rank) * heads * float64(l.Nope+l.ValueDim)
	return query + down + up + heads*float64(l.ValueDim)*h
}

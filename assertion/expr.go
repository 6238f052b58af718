package assertion

// Op is the operation of an expression node.
type Op string

// The operations.
const (
	Metric Op = "metric" // value of Expr.Metric, which is in Expr.Unit
	Const  Op = "const"  // Expr.Value, in base units
	Add    Op = "+"
	Sub    Op = "-"
	Mul    Op = "*"
	Div    Op = "/"
)

// Expr is an arithmetic expression over metrics: of one launch of the
// assertion's own case, and of other cases where leaves say so. It is evaluated
// in base units (bytes, seconds), so units cannot be mixed up.
type Expr struct {
	Op     Op     `json:"op"`
	Metric string `json:"metric,omitempty"`
	Unit   string `json:"unit,omitempty"`
	// Case is the key of the case that a Metric is of; "": the assertion's own.
	Case string `json:"case,omitempty"`
	// Baseline says that a Metric is taken from the baseline's case of that key.
	Baseline bool    `json:"baseline,omitzero"`
	Value    float64 `json:"value,omitzero"`
	Args     []*Expr `json:"args,omitempty"`
}

// Size is the number of nodes.
func (e *Expr) Size() int {
	if e == nil {
		return 0
	}
	n := 1
	for _, a := range e.Args {
		n += a.Size()
	}
	return n
}

// Leaves are all Metric nodes, from left to right. Missing operands, which only
// a damaged document has, are passed over.
func (e *Expr) Leaves() []*Expr {
	var leaves []*Expr
	var walk func(*Expr)
	walk = func(e *Expr) {
		if e == nil {
			return
		}
		if e.Op == Metric {
			leaves = append(leaves, e)
		}
		for _, a := range e.Args {
			walk(a)
		}
	}
	walk(e)
	return leaves
}

// Metrics are the names of all metrics in the expression, each once, in order.
func (e *Expr) Metrics() []string {
	return distinct(e.Leaves(), func(leaf *Expr) string { return leaf.Metric })
}

// Cases are the keys of the cases that leaves name, baseline's included, each
// once, in order. The assertion's own case is not among them unless it is named.
func (e *Expr) Cases() []string {
	return distinct(e.Leaves(), func(leaf *Expr) string { return leaf.Case })
}

// distinct are the texts of leaves that say something, each once, in order.
func distinct(leaves []*Expr, text func(*Expr) string) []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, leaf := range leaves {
		if s := text(leaf); !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

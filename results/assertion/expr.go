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

// Expr is an arithmetic expression over metrics of one launch of the assertion's own case, or of other
// cases named by its leaves. It is evaluated in base units (bytes, seconds), so that units cannot be mixed
// up.
type Expr struct {
	Op     Op     `json:"op"`
	Metric string `json:"metric,omitempty"`
	Unit   string `json:"unit,omitempty"`
	// Case is the key of a Metric's case; "": the assertion's own.
	Case string `json:"case,omitempty"`
	// Baseline takes the Metric from the baseline's case.
	Baseline bool    `json:"baseline,omitzero"`
	Value    float64 `json:"value,omitzero"`
	Args     []*Expr `json:"args,omitempty"`
}

// Size is the number of nodes of the expression.
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

// Leaves returns all Metric nodes from left to right. Missing operands, as in a damaged document, are
// skipped.
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

// Metrics lists the distinct names of metrics in the expression, in order.
func (e *Expr) Metrics() []string {
	return distinct(e.Leaves(), func(leaf *Expr) string { return leaf.Metric })
}

// Cases lists the distinct keys named by leaves, including the baseline's, in order. The assertion's own
// case is included only if named.
func (e *Expr) Cases() []string {
	return distinct(e.Leaves(), func(leaf *Expr) string { return leaf.Case })
}

// distinct lists the distinct non-empty texts of leaves, in order.
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

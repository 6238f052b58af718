package expression

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"weir/quantity"
	"weir/workload"
)

// Condition is a compiled when or where expression.
type Condition struct {
	text    string
	names   []string // options, axes and host fields that it mentions
	program *vm.Program
}

// CompileCondition compiles a condition without knowing the run that it is
// about, as when a plan is read; names are then checked by Eval.
func CompileCondition(text string) (*Condition, error) {
	c, err := compileCondition(text, nil, true)
	if err != nil {
		return nil, fmt.Errorf("condition %q: %w", text, err)
	}
	return c, nil
}

// When compiles the condition of a run, which may also ask about the host.
func (n *Names) When(text string) (*Condition, *Error) { return compileCondition(text, n, true) }

// Text is the condition as it was written.
func (c *Condition) Text() string { return c.text }

// UsesHost says whether the condition can only be decided on a host.
func (c *Condition) UsesHost() bool {
	for _, n := range c.names {
		if isHost(n) {
			return true
		}
	}
	return false
}

func isHost(name string) bool { return name == "host" || strings.HasPrefix(name, "host.") }

// Eval decides the condition for a case.
func (c *Condition) Eval(s Scope) (bool, error) {
	env := s.environment()
	for _, name := range c.names {
		root, field, dotted := strings.Cut(name, ".")
		v, ok := env[root]
		if dotted && ok {
			fields, isMap := v.(map[string]any)
			_, ok = fields[field]
			ok = ok && isMap
		}
		switch {
		case ok:
		case root == "host" && s.Host == nil:
			return false, fmt.Errorf("condition %q asks about the host, which is not known yet", c.text)
		default:
			return false, fmt.Errorf("condition %q: the case has no %s", c.text, name)
		}
	}
	v, err := expr.Run(c.program, env)
	if err != nil {
		return false, fmt.Errorf("condition %q: %s", c.text, plain(err).Message)
	}
	b, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("condition %q gives %v, not true or false", c.text, v)
	}
	return b, nil
}

// environment gives every value in base units, sizes and counts as whole numbers.
func (s Scope) environment() map[string]any {
	env := map[string]any{}
	variables := map[string]any{}
	for name, v := range s.Axes {
		if field, ok := strings.CutPrefix(name, "env."); ok {
			variables[field] = v
			continue
		}
		env[name] = base(v)
	}
	for name, v := range s.Options {
		env[name] = base(v)
	}
	if len(variables) > 0 {
		env["env"] = variables
	}
	if h := s.Host; h != nil {
		env["host"] = map[string]any{"fabrics": h.Fabrics, "nodes": h.Nodes, "gpus": h.GPUs, "cpus": h.CPUs}
	}
	return env
}

func base(v any) any {
	switch v := v.(type) {
	case quantity.Size:
		return int(v)
	case int64:
		return int(v)
	}
	if n, ok := workload.Number(v); ok {
		return n
	}
	return v
}

func compileCondition(text string, names *Names, host bool) (*Condition, *Error) {
	if strings.TrimSpace(text) == "" {
		return nil, errorf(0, 1, `write a comparison, as block_size == 64MiB`, "the condition is empty")
	}
	r, tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	return conditionFrom(r, tokens, names, host)
}

// conditionFrom compiles tokens, which may be the end of a longer text: places
// stay those of the whole text.
func conditionFrom(r []rune, tokens []token, names *Names, host bool) (*Condition, *Error) {
	from, to := tokens[0].from, tokens[len(tokens)-1].to
	// Literals with units become names of the same length, so that every place
	// that expr-lang reports is a place in the author's text.
	literals := map[int]token{}
	at := map[int]token{}
	for _, t := range tokens {
		at[t.from] = t
		if t.kind == quantityToken && t.quantity.Unit != "" {
			literals[t.from] = t
		}
	}
	source := pad(r, from, to, literals)
	tree, perr := parser.Parse(source)
	if perr != nil {
		return nil, place(perr, from, to)
	}
	check := &conditionChecker{names: names, host: host, at: at, literals: literals, local: map[string]bool{}}
	check.collectLocals(tree.Node)
	ast.Walk(&tree.Node, check)
	if check.err != nil {
		return nil, check.err
	}
	options := []expr.Option{expr.AsBool(), expr.Optimize(false), expr.Patch(literalPatcher(literals))}
	if names != nil {
		options = append(options, expr.Env(names.types(host)))
	}
	program, cerr := expr.Compile(source, options...)
	if cerr != nil {
		return nil, place(cerr, from, to)
	}
	return &Condition{text: string(r[from:to]), names: check.used, program: program}, nil
}

// pad blanks everything outside a span and puts a name of equal length for each literal.
func pad(r []rune, from, to int, literals map[int]token) string {
	out := make([]rune, to)
	for i := range out {
		out[i] = ' '
	}
	copy(out[from:], r[from:to])
	for start, t := range literals {
		if start < from || start >= to {
			continue
		}
		for i := t.from; i < t.to; i++ {
			out[i] = ' '
		}
		out[start] = 'q'
	}
	return string(out)
}

// literalPatcher puts the values of quantities back, known by their places.
type literalPatcher map[int]token

func (p literalPatcher) Visit(node *ast.Node) {
	id, ok := (*node).(*ast.IdentifierNode)
	if !ok {
		return
	}
	t, ok := p[id.Location().From]
	if !ok {
		return
	}
	v := quantity.Round(t.quantity.Value)
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		ast.Patch(node, &ast.IntegerNode{Value: int(v)})
		return
	}
	ast.Patch(node, &ast.FloatNode{Value: v})
}

// types are what the names of a condition hold.
func (n *Names) types(host bool) types.Map {
	m, env := types.Map{}, types.Map{}
	for _, a := range n.Axes {
		t := map[AxisType]types.Type{Text: types.String, Number: types.Float64, Flag: types.Bool}[a.Type]
		if field, ok := strings.CutPrefix(a.Name, "env."); ok {
			env[field] = t
			continue
		}
		m[a.Name] = t
	}
	for _, o := range n.Kind.Options {
		switch o.Type {
		case workload.Size, workload.Count:
			m[o.Name] = types.Int
		case workload.Time, workload.Rate, workload.Percent:
			m[o.Name] = types.Float64
		case workload.Bool:
			m[o.Name] = types.Bool
		default:
			m[o.Name] = types.String
		}
	}
	if len(env) > 0 {
		m["env"] = env
	}
	if host {
		m["host"] = types.Map{"fabrics": types.Array(types.String), "nodes": types.Int, "gpus": types.Int, "cpus": types.Int}
	}
	return m
}

// place turns an error of expr-lang into one at a span of the text.
func place(err error, from, to int) *Error {
	e := plain(err)
	if e.From < from || e.From >= to {
		e.From, e.To = from, to
	}
	e.To = max(min(e.To, to), e.From+1)
	switch {
	case strings.Contains(e.Message, "token EOF"):
		e.Message, e.Hint = "the expression ends too early", "close what is open and complete the last comparison"
	case strings.HasPrefix(e.Message, "expected bool"):
		e.Message, e.Hint = "the condition gives no true or false", "write a comparison, as block_size == 64MiB"
	}
	return e
}

func plain(err error) *Error {
	var f *file.Error
	if !errors.As(err, &f) {
		return &Error{Message: err.Error()}
	}
	message := f.Message
	if message == "" {
		message = err.Error()
	}
	return &Error{From: f.From, To: f.To, Message: message}
}

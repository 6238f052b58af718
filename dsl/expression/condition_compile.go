package expression

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	exprparser "github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"

	"weir/quantity"
	"weir/workload"
)

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

// conditionFrom compiles tokens, which may be a part of a longer text: places
// stay those of the whole text.
func conditionFrom(r []rune, tokens []token, names *Names, host bool) (*Condition, *Error) {
	from, to := tokens[0].from, tokens[len(tokens)-1].to
	// Literals with units become names of the same length, so that every place
	// that expr-lang reports is a place in the author's text.
	literals := map[int]token{}
	at := map[int]token{}
	var masks []mask
	for _, t := range tokens {
		at[t.from] = t
		if t.kind == quantityToken && t.quantity.Unit != "" {
			literals[t.from] = t
			masks = append(masks, mask{t.from, t.to, 'q'})
		}
	}
	compile := names.compiler(host)
	compile.Lock()
	defer compile.Unlock()
	tree, perr := exprparser.ParseWithConfig(masked(r, from, to, masks), compile.config)
	if perr != nil {
		return nil, place(perr, from, to)
	}
	check := &conditionChecker{names: names, host: host, at: at, literals: literals, local: map[string]bool{}, callees: map[int]bool{}}
	ast.Walk(&tree.Node, collector{check})
	ast.Walk(&tree.Node, check)
	ast.Walk(&tree.Node, strayRange{check})
	if check.err != nil {
		return nil, check.err
	}
	if (&workMeter{}).of(tree.Node) > mostWork {
		return nil, errorf(from, to, "ask less of one condition", "the condition could take too long to decide")
	}
	ast.Walk(&tree.Node, literalPatcher(literals))
	ast.Walk(&tree.Node, arithmeticPatcher{})
	if _, err := checker.Check(tree, compile.config); err != nil {
		return nil, place(err, from, to)
	}
	program, err := compiler.Compile(tree, compile.config)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n") // a stack may follow
		return nil, errorf(from, to, "", "%s", first)
	}
	return &Condition{text: string(r[from:to]), names: distinct(check.used), program: program}, nil
}

func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// conditionCompiler is expr-lang's configuration for the names of one run. It
// costs as much to make as a condition to compile, and keeps caches of its own.
type conditionCompiler struct {
	sync.Mutex
	config *conf.Config
}

// unknownRun compiles conditions of which the run is not known.
var unknownRun = sync.OnceValue(func() *conditionCompiler {
	c := newConditionCompiler(map[string]any{})
	c.config.Strict, c.config.Env.Strict = false, false
	return c
})

func newConditionCompiler(env any) *conditionCompiler {
	c := conf.New(env)
	c.Optimize, c.Expect, c.ExpectAny = false, reflect.Bool, true
	for name, f := range checkedFunctions {
		c.Functions[name] = f
	}
	return &conditionCompiler{config: c}
}

// compiler is made at the first condition that asks for it.
func (n *Names) compiler(host bool) *conditionCompiler {
	if n == nil {
		return unknownRun()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	c := &n.where
	if host {
		c = &n.when
	}
	if *c == nil {
		*c = newConditionCompiler(n.types(host))
	}
	return *c
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

// mask is a span that expr-lang does not see: a name of equal length that
// begins with a letter stands for it, or blanks.
type mask struct {
	from, to int
	letter   rune
}

// masked blanks everything outside of a span, and puts its letter and blanks in
// the place of each mask.
func masked(r []rune, from, to int, masks []mask) string {
	out := make([]rune, to)
	for i := range out {
		out[i] = ' '
	}
	copy(out[from:], r[from:to])
	for _, m := range masks {
		for i := m.from; i < m.to; i++ {
			out[i] = ' '
		}
		out[m.from] = m.letter
	}
	return string(out)
}

// literalPatcher puts the values of quantities back, known by their places.
type literalPatcher map[int]token

// Visit patches one node.
func (p literalPatcher) Visit(node *ast.Node) {
	id, ok := (*node).(*ast.IdentifierNode)
	if !ok {
		return
	}
	t, ok := p[id.Location().From]
	if !ok {
		return
	}
	v := t.quantity.Value
	if v != math.Trunc(v) { // a whole number is exact: rounding would take digits of it
		v = quantity.Round(v)
	}
	if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
		ast.Patch(node, &ast.IntegerNode{Value: int(v)})
		return
	}
	ast.Patch(node, &ast.FloatNode{Value: v})
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

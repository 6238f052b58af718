package expression

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/quantity"
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

// conditionFrom compiles the tokens of a condition, which may be a part of a longer text. Positions
// are those of the whole text.
func conditionFrom(r []rune, tokens []token, names *Names, host bool) (*Condition, *Error) {
	from, to := tokens[0].from, tokens[len(tokens)-1].to
	for i, t := range tokens {
		if t.kind == symbolToken && t.text == "=" && !(i > 1 && tokens[i-2].is("let")) {
			if i+1 < len(tokens) && tokens[i+1].is(">") {
				return nil, t.errorf("write >=", "there is no operator =>")
			}
			return nil, t.errorf("write == to compare", "there is no operator =")
		}
	}
	check := newConditionChecker(tokens, names, host)
	config := names.configuration(host)
	tree, err := parser.ParseWithConfig(masked(r, from, to, check), config)
	if err != nil {
		return nil, place(err, from, to)
	}
	_, _ = checker.Check(tree, config) // for the types of operands, still without quantities
	ast.Walk(&tree.Node, check)
	ast.Walk(&tree.Node, numberPatcher{check})
	if fault := check.finish(); fault != nil {
		return nil, fault
	}
	if _, err := checker.Check(tree, config); err != nil {
		return nil, place(err, from, to)
	}
	program, err := compiler.Compile(tree, config)
	if err != nil {
		return nil, place(err, from, to)
	}
	return &Condition{text: string(r[from:to]), names: distinct(check.used), program: program}, nil
}

func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		out = ordered.Append(out, n)
	}
	return out
}

// configuration declares the names that a condition may use. If the run is unknown, any name is
// allowed.
func (n *Names) configuration(host bool) *conf.Config {
	var c *conf.Config
	if n == nil {
		c = conf.New(map[string]any{})
		c.Strict, c.Env.Strict = false, false
	} else {
		c = conf.New(n.types(host))
	}
	c.Expect, c.ExpectAny = reflect.Bool, true
	numberFunctions(c)
	return c
}

// types are the types of the names of a condition.
func (n *Names) types(host bool) types.Map {
	m, env := types.Map{}, types.Map{}
	for _, a := range n.Axes {
		t := map[AxisType]types.Type{Text: types.String, Number: types.Float64, Flag: types.Bool}[a.Type]
		if field, ok := strings.CutPrefix(a.Name, "env."); ok {
			if env[field] = t; a.Null {
				env[field] = types.Any
			}
			continue
		}
		m[a.Name] = t
	}
	for _, o := range n.Kind.Options {
		m[o.Name] = types.String
		if _, numeric := n.dimension(o.Name); numeric {
			m[o.Name] = types.Float64
		} else if o.Type == option.Bool {
			m[o.Name] = types.Bool
		}
	}
	if len(env) > 0 {
		m["env"] = env
	}
	if host {
		m["host"] = types.Map{
			"fabrics": types.Array(types.String), "backends": types.Array(types.String),
			"nodes": types.Float64, "gpus": types.Float64, "cpus": types.Float64,
		}
	}
	return m
}

// masked blanks everything outside of a span. Quantities with a unit become names of the same
// length, so that positions reported by expr-lang are those of the text. null becomes nil.
func masked(r []rune, from, to int, check *conditionChecker) string {
	out := []rune(strings.Repeat(" ", to))
	copy(out[from:], r[from:to])
	for at := range check.nulls {
		copy(out[at:], []rune("nil "))
	}
	for at, t := range check.literals {
		out[at] = 'q'
		for i := at + 1; i < t.to; i++ {
			out[i] = ' '
		}
	}
	return string(out)
}

// exact rounds a value in base units, except a whole number, which would lose digits.
func exact(v float64) float64 {
	if whole(v) {
		return v
	}
	return quantity.Round(v)
}

// place converts an error of expr-lang to one at a span of the text.
func place(err error, from, to int) *Error {
	e := plain(err)
	if e.From < from || e.From >= to {
		e.From, e.To = from, to
	}
	e.To = max(min(e.To, to), e.From+1)
	if m := typesDiffer().FindStringSubmatch(e.Message); m != nil {
		e.Message = fmt.Sprintf("%s does not apply to %s", m[1], typeText(m[2]))
		if m[3] != "" {
			e.Message = fmt.Sprintf("%s does not apply to %s and %s", m[1], typeText(m[2]), typeText(m[3]))
		}
		switch {
		case strings.Contains(e.Message, "a list"):
			e.Hint = `ask for a value in a list by in, as "sim" in host.fabrics`
		case strings.Contains(e.Message, "a text") && strings.ContainsAny(m[1], "<>"):
			e.Hint = "an axis of values with and without units is one of texts: write a unit with all of them, or with none"
		}
	}
	e.Message = quotedToken().ReplaceAllString(e.Message, "$1")
	switch {
	case e.Message == `unexpected token ","`:
		e.Message, e.Hint = `unexpected ","`, "join conditions by and"
	case strings.Contains(e.Message, "token EOF"):
		e.Message, e.Hint = "the expression ends too early", "close all parentheses and complete the last comparison"
	case strings.HasPrefix(e.Message, "expected bool"):
		e.Message, e.Hint = "the condition is not true or false", "write a comparison, as block_size == 64MiB"
	}
	return e
}

var (
	typesDiffer = lazyregexp.New(`^invalid operation: (\S+) \(mismatched types? (.*?)(?: and (.*))?\)$`)
	quotedToken = lazyregexp.New(`\b(?:Operator|Identifier|Number|String|Bracket)\((".*?")\)`)
)

// typeText is a type of Go in words.
func typeText(name string) string {
	switch {
	case strings.HasPrefix(name, "["):
		return "a list"
	case strings.HasPrefix(name, "map"):
		return "several values"
	}
	words := map[string]string{"float64": "a number", "int": "a number", "string": "a text", "bool": "a truth value"}
	return cmp.Or(words[name], "such a value")
}

func plain(err error) *Error {
	var f *file.Error
	if !errors.As(err, &f) {
		first, _, _ := strings.Cut(err.Error(), "\n") // the rest may be a stack trace
		return &Error{Message: first}
	}
	message := f.Message
	if message == "" {
		message = err.Error()
	}
	return &Error{From: f.From, To: f.To, Message: message}
}

package importer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// Commands of a script that only compute are run by the interpreter of package interp, without programs and files.

// input is what a command reads.
type input struct {
	text  string
	known bool
}

// outcome is what commands did.
type outcome struct {
	printed string
	yes     bool      // the last one succeeded
	set     variables // those with another value
}

// nested is the entry of how many commands were evaluated.
const nested = "()"

// Limits of evaluations: commands of one, and steps of all.
const (
	mostEvaluated = 1 << 12
	mostSteps     = 1 << 20
)

// errNotEvaluated ends an evaluation: a command does more than compute.
var errNotEvaluated = errors.New("only the shell knows")

// evaluation is a run of commands of a script.
type evaluation struct {
	context.Context
	files    variables
	steps    *atomic.Int64
	commands atomic.Int64
	lost     atomic.Bool // it needs what only the shell of the script knows
	printed  bytes.Buffer
}

// Err ends an evaluation after mostSteps. The interpreter calls it before each step.
func (e *evaluation) Err() error {
	if e.steps.Add(1) > mostSteps || e.lost.Load() {
		return e.stop()
	}
	return nil
}

func (e *evaluation) stop() error {
	e.lost.Store(true)
	return errNotEvaluated
}

// Write keeps what commands print.
func (e *evaluation) Write(p []byte) (int, error) {
	if e.printed.Len()+len(p) > mostValue {
		return 0, e.stop()
	}
	return e.printed.Write(p)
}

// warnings are what the interpreter and commands say of errors.
type warnings struct{ *evaluation }

func (w warnings) Write(p []byte) (int, error) {
	_ = w.stop()
	return len(p), nil
}

// evaluate runs commands; not known if they do more than compute with known values. Nothing keeps what they set.
func (v variables) evaluate(all []*syntax.Stmt, in input) (o outcome, known bool) {
	nodes := make([]syntax.Node, len(all))
	for i, n := range all {
		nodes[i] = n
	}
	u := v.usesOf(nodes...)
	if !u.known || u.names["0"] {
		return o, false
	}
	state := v[nested]
	if state.evaluated == nil {
		state.evaluated = new(atomic.Int64)
		v[nested] = state
	}
	e := &evaluation{Context: context.Background(), files: v, steps: state.evaluated}
	var stdin io.Reader
	if in.known {
		stdin = strings.NewReader(in.text)
	}
	arguments := []string{"-u", "-f", "--"}
	v = v.counting(u)
	list, _ := v.arguments()
	for _, a := range list {
		arguments = append(arguments, a.Str)
	}
	r, err := interp.New(interp.Env(v), interp.Dir("/"), interp.Params(arguments...),
		interp.StdIO(stdin, e, warnings{e}), interp.CallHandler(e.call), interp.ExecHandlers(e.program),
		interp.OpenHandler(e.open),
		interp.StatHandler(func(context.Context, string, bool) (fs.FileInfo, error) { return nil, e.stop() }),
		interp.AccessHandler(func(context.Context, string, interp.AccessMode) error { return e.stop() }),
		interp.ReadDirHandler2(func(context.Context, string) ([]fs.DirEntry, error) { return nil, e.stop() }))
	if err != nil {
		return o, false
	}
	r.Reset()
	r.Funcs = map[string]*syntax.Stmt{}
	for name, f := range v {
		if f.function != nil && !f.function.several {
			r.Funcs[strings.TrimSuffix(name, nested)] = f.function.decl.Body
		}
	}
	for _, name := range []string{"IFS", "OPTIND"} { // which the interpreter sets to its defaults
		if v[name].Set {
			all = append([]*syntax.Stmt{settingOf(name, v[name].Str)}, all...)
		}
	}
	err = r.Run(e, &syntax.File{Stmts: all})
	var status interp.ExitStatus
	if err != nil && !errors.As(err, &status) || e.lost.Load() {
		return o, false
	}
	o = outcome{printed: e.printed.String(), yes: err == nil, set: variables{}}
	for name, now := range r.Vars {
		before := v[name]
		if slices.Contains(ofInterpreter, name) || u.counted[name] || reflect.DeepEqual(before.Variable, now) {
			continue
		}
		if (name == "IFS" || name == "OPTIND") && !before.Set && now.Str == interpreterDefaults[name] {
			continue
		}
		if now.Set = now.Set || now.Kind != expand.Unknown; bytesOf(now) > mostValue { // mapfile leaves it out
			return o, false
		}
		o.set[name] = variable{Variable: now, assumed: u.assumed, unset: !now.Set}
	}
	return o, true
}

// Variables that the interpreter sets itself.
var (
	ofInterpreter       = names("UID|EUID|GID|HOME|PWD|OLDPWD")
	interpreterDefaults = map[string]string{"IFS": blanks, "OPTIND": "1"}
)

const blanks = " \t\n"

// settingOf is a command that sets a variable.
func settingOf(name, value string) *syntax.Stmt {
	return &syntax.Stmt{Cmd: &syntax.CallExpr{Assigns: []*syntax.Assign{{
		Name: &syntax.Lit{Value: name}, Value: &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: value}}},
	}}}}
}

// bytesOf is the size of a variable.
func bytesOf(of expand.Variable) (n int) {
	n = len(of.Str)
	for _, e := range of.List {
		n += len(e) + mostValue/mostItems
	}
	for _, e := range of.Map {
		n += len(e) + mostValue/mostItems
	}
	return n
}

func (openText) Write(p []byte) (int, error) { return len(p), nil }

// take keeps what commands set.
func (v variables) take(o outcome) {
	for name, now := range o.set {
		now.integer = v[name].integer && now.Set
		v[name] = now
	}
}

// setBy runs a command that sets variables; not done if it does more than compute.
func (v variables) setBy(n *syntax.Stmt, in input, assumed bool) (done bool) {
	o, done := v.evaluate([]*syntax.Stmt{n}, in)
	for name, now := range o.set {
		now.assumed = now.assumed || assumed
		o.set[name] = now
	}
	if done {
		v.take(o)
	}
	return done
}

// functionEntry is the entry of a function.
func functionEntry(name string) string { return name + nested }

// number returns the value of an arithmetic expression of known values. With assigns it may set variables.
func (v variables) number(e syntax.ArithmExpr, assigns bool) (n int64, ok bool) {
	u := v.usesOf(&syntax.ArithmExp{X: e})
	if e == nil || !u.known || u.assigns && !assigns {
		return 0, false
	}
	own := v.counting(u)
	if u.assigns {
		own = maps.Clone(own)
	}
	value, err := expand.Arithm(own.config(), e)
	if err != nil {
		return 0, false
	}
	if u.assigns {
		for name, now := range own {
			if before := v[name]; !u.counted[name] && (before.Str != now.Str || before.Set != now.Set) {
				now.assumed = u.assumed
				v[name] = now
			}
		}
	}
	return int64(value), true
}

// calculatedText returns the value of a text that is arithmetic.
func (v variables) calculatedText(text string) (number string, ok bool) {
	e, err := syntax.NewParser().Arithmetic(strings.NewReader(text))
	if err != nil || e == nil {
		return "", false
	}
	n, ok := v.number(e, false)
	return strconv.FormatInt(n, 10), ok
}

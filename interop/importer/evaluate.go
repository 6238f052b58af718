package importer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"

	"github.com/weir-bench/weir/internal/lazyregexp"
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

// Err counts steps, each of which asks for it.
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

// changesNothing are commands of the shell that only compute.
var changesNothing = names("echo|printf|read|mapfile|readarray|test|[|true|false|:|break|continue|return|exit|shift|set|" +
	"unset|getopts")

// call decides what a command may do.
func (e *evaluation) call(ctx context.Context, args []string) ([]string, error) {
	if e.commands.Add(1) > mostEvaluated {
		return nil, e.stop()
	}
	of, name := interp.HandlerCtx(ctx), args[0]
	if e.files[functionEntry(name)].function != nil {
		return args, nil
	}
	text := strings.Join(args[1:], " ")
	switch {
	case name == "which" || (name == "command" || name == "type") && len(args) == 3:
		name = args[len(args)-1]
		if strings.HasPrefix(name, "-") || len(args) == 3 && args[1] != "-v" && args[1] != "-P" {
			return nil, e.stop()
		}
		return []string{"echo", name}, nil
	case name == "command" && len(args) > 1 && !strings.HasPrefix(args[1], "-"):
		return e.call(ctx, args[1:])
	case name == "read" || name == "mapfile" || name == "readarray":
		if of.Stdin == nil || slices.Contains(args, "-t") && name == "read" {
			return nil, e.stop()
		}
	case name == "echo" && len(args) > 1 && (args[1] == "-ne" || args[1] == "-en"):
		return slices.Concat([]string{"echo", "-n", "-e"}, args[2:]), nil
	case (name == "[" || name == "test") && !comparesNumbers(args):
		return nil, e.stop()
	case name == "echo" && strings.Contains(text, `\`): // shells differ
		if !strings.HasPrefix(args[1], "-") || !strings.Contains(args[1], "e") || strings.Contains(text, `\c`) {
			return nil, e.stop()
		}
	case name == "printf" && len(args) > 1 && args[1] == "--":
		return slices.Delete(slices.Clone(args), 1, 2), nil
	case name == "printf" && printfDiffers().MatchString(text):
		return nil, e.stop()
	case name == "set" && len(args) > 1 && args[1] != "--" && strings.Contains("-+", args[1][:min(1, len(args[1]))]):
		return []string{"true"}, nil // an option
	}
	if interp.IsBuiltin(name) && !slices.Contains(changesNothing, name) {
		return nil, e.stop()
	}
	return args, nil
}

// comparesNumbers reports whether operators that compare numbers have them.
func comparesNumbers(args []string) bool {
	for i, a := range args {
		if slices.Contains(comparisons, a) && i > 1 && i+1 < len(args) && !(wholeNumber().MatchString(args[i-1]) &&
			wholeNumber().MatchString(args[i+1])) {
			return false
		}
	}
	return true
}

// printfDiffers matches what printf of bash has, and that of the interpreter not.
var printfDiffers = lazyregexp.New(`^-|%q|%b`)

var wholeNumber = lazyregexp.New(`^\s*[-+]?\d+\s*$`)

// program runs a program that makes a text of another.
func (e *evaluation) program(interp.ExecHandlerFunc) interp.ExecHandlerFunc {
	return func(ctx context.Context, args []string) error {
		of := interp.HandlerCtx(ctx)
		run, ok := filters[args[0]]
		if !ok {
			return e.stop()
		}
		text, needsInput := "", !slices.Contains(withoutInput, args[0])
		for last := len(args) - 1; last > 0 && (needsInput || args[0] == "cat"); last-- {
			file, known := e.files.fileText(args[last])
			if !known {
				break
			}
			text, args, needsInput = file+text, args[:last], false
		}
		if args[0] == "cat" && len(args) > 1 {
			return e.stop()
		}
		if needsInput {
			if of.Stdin == nil {
				return e.stop()
			}
			read, err := io.ReadAll(io.LimitReader(of.Stdin, mostValue+1))
			if text = string(read); err != nil || len(text) > mostValue {
				return e.stop()
			}
		}
		printed, ok := run(args[1:], text)
		if !ok {
			return e.stop()
		}
		_, err := io.WriteString(of.Stdout, printed)
		return err
	}
}

// openText is a file of a known text, or one that keeps nothing.
type openText struct{ io.Reader }

func (openText) Write(p []byte) (int, error) { return len(p), nil }
func (openText) Close() error                { return nil }

// open opens a file that the script writes, and no other.
func (e *evaluation) open(_ context.Context, path string, flag int, _ os.FileMode) (io.ReadWriteCloser, error) {
	if path == "/dev/null" {
		return openText{strings.NewReader("")}, nil
	}
	text, known := e.files.fileText(path)
	if !known || flag != os.O_RDONLY {
		return nil, e.stop()
	}
	return openText{strings.NewReader(text)}, nil
}

// output returns what a command prints; not known if it does anything else than compute.
func (v variables) output(n *syntax.Stmt, in input) (text string, known bool) {
	own := *n
	if from, ok := v.redirected(n.Redirs); ok {
		in = from
		own.Redirs = slices.DeleteFunc(slices.Clone(n.Redirs), isInput)
	}
	if own.Cmd == nil { // $(< FILE)
		return in.text, in.known && len(own.Redirs) == 0
	}
	o, known := v.evaluate([]*syntax.Stmt{&own}, in)
	return o.printed, known
}

// isInput reports whether a redirection gives a command what it reads.
func isInput(r *syntax.Redirect) bool {
	return (r.N == nil || r.N.Value == "0") && slices.Contains([]syntax.RedirOperator{
		syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc,
	}, r.Op)
}

// redirected returns what redirections give a command to read; not ok if they give nothing.
func (v variables) redirected(all []*syntax.Redirect) (in input, ok bool) {
	for _, r := range all {
		if !isInput(r) {
			continue
		}
		switch ok = true; r.Op {
		case syntax.WordHdoc:
			in.text, in.known = v.value(r.Word)
			in.text += "\n"
		case syntax.RdrIn:
			in = v.ofFile(r.Word)
		default:
			in.text, in.known = v.document(r)
		}
	}
	return in, ok
}

// ofFile is what a command reads from a file that the script writes, or that is another command: < <(…).
func (v variables) ofFile(w *syntax.Word) (in input) {
	if name, ok := v.value(w); ok && w != nil {
		in.text, in.known = v.fileText(name)
		return in
	}
	if p, ok := onlyPart(w).(*syntax.ProcSubst); ok && p.Op == syntax.CmdIn {
		var o outcome
		o, in.known = v.evaluate(p.Stmts, input{})
		in.text = o.printed
	}
	return in
}

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

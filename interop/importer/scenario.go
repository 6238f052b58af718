package importer

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/structure"
	"github.com/weir-bench/weir/internal/yamlsyntax"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/command"
)

// value is a value of a scenario: a literal text, an expression, a list or a mapping.
type value any

type (
	literal    string // a text without expressions
	quoted     string // a text that is no number or other literal
	bare       string // a number, true, false or null
	truth      bool
	expression string // a text with ${…}
	list       []value
	pair       struct {
		key   string
		value value
	}
	mapping []pair
	inline  []pair // a mapping on one line
)

// fields formats fields of a JSON document on one line, with their types.
func fields(v any) value {
	switch v := v.(type) {
	case map[string]any:
		all := inline{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, pair{name, fields(v[name])})
		}
		return all
	case []any:
		all := list{}
		for _, item := range v {
			all = append(all, fields(item))
		}
		return all
	case string:
		if structure.IsLiteral(v) {
			return quoted(v)
		}
		return literal(v)
	case nil:
		return bare("null")
	}
	return bare(fmt.Sprint(v))
}

// structured formats a structure on one line.
func structured(s *structure.Value) value {
	switch {
	case s.Pairs != nil:
		var all inline
		for _, p := range s.Pairs {
			all = append(all, pair{p.Key, structured(p.Value)})
		}
		return all
	case s.Items != nil:
		var all list
		for _, item := range s.Items {
			all = append(all, structured(item))
		}
		return all
	}
	return literal(s.Text)
}

// run is one run of a scenario.
type run struct {
	name    string
	kind    *workload.Kind
	command bool // it has workload command, otherwise that of kind
	options map[string]value
	env     []Variable
	sweep   mapping
	assert  list
	timeout string // of a launch of a case; "": weir's default
	// variables are those of the scenario that its options use, and have no value.
	variables []string

	makes string // the directory of matrices that it generates; "": none
	reads string // the file of matrices that it reads; "": none
	lacks error  // why reads cannot be read; nil: it can

	nodes    int64 // number of nodes; 0: unknown
	distinct bool  // they are different hosts
	each     int64 // processes on a node; 0: unknown
	place    mapping
}

// scenario writes runs in the canonical layout.
func scenario(title, of string, runs []*run, notes []Note) ([]byte, error) {
	var b bytes.Buffer
	for _, n := range notes {
		fmt.Fprintf(&b, "# %s\n", strings.Map(printable, n.Text))
	}
	var all mapping
	nodes := cluster(runs)
	for _, r := range runs {
		all = append(all, pair{r.name, r.mapping()})
	}
	write(&b, 0, mapping{
		{"scenario", literal(title)},
		{"description", literal("what a command line of " + of + " measures")},
	})
	if names := variablesOf(runs); names != nil {
		var declared mapping
		for _, name := range names {
			of := literal("string")
			if IsCount(name) {
				of = "number"
			}
			declared = append(declared, pair{name, inline{{"type", of}}})
		}
		b.WriteByte('\n')
		write(&b, 0, mapping{{"variables", declared}})
	}
	if nodes != nil {
		b.WriteByte('\n')
		write(&b, 0, mapping{{"cluster", nodes}})
	}
	b.WriteByte('\n')
	write(&b, 0, mapping{{"runs", all}})
	src, diags := format.Format("scenario.yaml", b.Bytes())
	if diags.HasErrors() {
		return nil, errors.New(diags.Error())
	}
	return src, nil
}

// IsCount reports whether a variable of an imported scenario is a whole number from 1.
func IsCount(variable string) bool { return variable == "requests" || variable == "concurrency" }

func (r *run) hasVariable(name string) bool { return slices.Contains(r.variables, name) }

// variablesOf returns the variables of all runs.
func variablesOf(runs []*run) (all []string) {
	for _, r := range runs {
		for _, name := range r.variables {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// printable keeps a comment on its line.
func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}

func (r *run) mapping() mapping {
	kind := r.kind
	if r.command {
		kind = command.Kind
	}
	var options, env mapping
	for _, o := range kind.Options {
		if v, ok := r.options[o.Name]; ok {
			options = append(options, pair{o.Name, v})
		}
	}
	for _, v := range r.env {
		text := value(literal(v.Value))
		if v.secret {
			text = expression(`${secret("` + v.Name + `")}`)
		}
		env = append(env, pair{v.Name, text})
	}
	m := mapping{{"workload", literal(kind.Name)}, {"options", options}}
	if env != nil {
		m = append(m, pair{"env", env})
	}
	if r.place != nil {
		m = append(m, pair{"place", r.place})
	}
	if r.sweep != nil {
		m = append(m, pair{"sweep", r.sweep})
	}
	if r.timeout != "" {
		m = append(m, pair{"timeout", literal(r.timeout)})
	}
	if r.assert != nil {
		m = append(m, pair{"assert", r.assert})
	}
	return m
}

func write(b *bytes.Buffer, indent int, m mapping) {
	for _, p := range m {
		b.WriteString(strings.Repeat("  ", indent) + yamlText(p.key) + ":")
		if inner, ok := p.value.(mapping); ok {
			b.WriteByte('\n')
			write(b, indent+1, inner)
			continue
		}
		b.WriteString(" " + flow(p.value) + "\n")
	}
}

func flow(v value) string {
	switch v := v.(type) {
	case literal:
		return yamlText(escape.Replace(string(v)))
	case quoted:
		return strconv.Quote(escape.Replace(string(v)))
	case bare:
		return string(v)
	case expression:
		return yamlText(string(v))
	case truth:
		return strconv.FormatBool(bool(v))
	case list:
		var all []string
		for _, item := range v {
			all = append(all, flow(item))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case inline:
		var all []string
		for _, p := range v {
			all = append(all, yamlText(p.key)+": "+flow(p.value))
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	panic(fmt.Sprintf("%T cannot be formatted on a line", v))
}

// escape escapes what a scenario would read as an expression.
var escape = strings.NewReplacer("${", "$${", "%{", "%%{")

// plainNumber matches numbers that all readers of YAML parse alike.
var plainNumber = lazyregexp.New(`^-?(0|[1-9][0-9]{0,14})$`)

func yamlText(text string) string {
	if plainNumber().MatchString(text) || yamlsyntax.IsPlain(text, true) && yamlsyntax.IsPlain(text, false) {
		return text
	}
	return yamlsyntax.Quote(text)
}

func literals(words ...string) list {
	var all list
	for _, w := range words {
		all = append(all, literal(w))
	}
	return all
}

func size(n int64) literal { return literal(quantity.Size(n).String()) }

func count(n int64) literal { return literal(fmt.Sprint(n)) }

// points sets the values of an axis in a run: one as an option, several as a sweep.
func (r *run) points(axis string, values []int64, show func(int64) literal) {
	o, _ := r.kind.Option(axis)
	switch {
	case len(values) == 1 && !r.command:
		if o.Default != any(values[0]) {
			r.options[axis] = show(values[0])
		}
	case len(values) < 4:
		var all list
		for _, v := range values {
			all = append(all, show(v))
		}
		r.sweep = append(r.sweep, pair{axis, all})
	default:
		r.sweep = append(r.sweep, pair{axis, literal(show(values[0]) + ".." + show(values[len(values)-1]) + " x2")})
	}
}

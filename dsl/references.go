package dsl

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/expression"
	"weir/dsl/yamlsyntax"
	"weir/quantity"
	"weir/suggest"
	"weir/workload"
)

// references reads the tables of expected values, in this file or in one of
// their own, and gives them by run.
func (l *loader) references(content *hcl.BodyContent, own []*Run) map[string]*expression.Reference {
	expr := argument(content, "references")
	// a file of values that nothing asks for may be of other scenarios, whose runs have the same names
	asked := !has(content, "references") && bytes.Contains(l.src, []byte("reference."))
	if from := l.all.options.References; from != nil && asked {
		return l.readReferences(from.File, from.At, own)
	}
	if expr == nil || isMapping(expr) {
		return l.tables(l.section(content, "references"), own, "references", true)
	}
	name, ok := l.text(expr, "references")
	if !ok {
		return nil
	}
	return l.readReferences(l.relative(name), expr.Range(), own)
}

func (l *loader) readReferences(path string, at hcl.Range, own []*Run) map[string]*expression.Reference {
	src, err := l.all.options.Read(path)
	if err != nil {
		l.unread(at, "Cannot read the references", path, err)
		return nil
	}
	return l.referenceFile(path, src, at, own)
}

// referenceFile reads a file of reference values, which is YAML or JSON. It may
// hold tables for runs that this scenario does not have.
func (l *loader) referenceFile(path string, src []byte, at hcl.Range, own []*Run) map[string]*expression.Reference {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		// which YAML does not have as indentation, and JSON texts not at all
		src = bytes.ReplaceAll(src, []byte("\t"), []byte(" "))
	case ".yaml", ".yml":
	default:
		l.error(at, "Unknown kind of file", path+" is read by its extension, which is .yaml, .yml or .json.", "")
		return nil
	}
	if len(src) > maxReference {
		l.error(at, "File too large", fmt.Sprintf("%s has %d bytes; references have at most %d.", path, len(src),
			maxReference), "")
		return nil
	}
	file, diags := yamlsyntax.Parse(src, path, "reference")
	f := &loader{file: path, src: src, yaml: true, diags: diags, places: &places{}, all: l.all}
	f.eval = &evaluator{env: func(string) (string, bool) { return "", false }, functions: functions}
	file.Nav = f.places
	l.all.add(path, file)
	defer func() { l.all.diags = append(l.all.diags, f.diags...) }()
	root := f.content(file.Body, schema{labelled: []string{"reference"}}, "the file")
	if len(root.Blocks) == 0 {
		return nil
	}
	keys := schema{attributes: []string{"description", "environment"}, sections: []string{"tables"}}
	content := f.content(root.Blocks[0].Body, keys, "a file of references")
	if expr := argument(content, "description"); expr != nil {
		f.text(expr, "description")
	}
	environment := f.measuredIn(content)
	entries := f.section(content, "tables")
	if len(entries) == 0 && !f.diags.HasErrors() {
		f.error(root.Blocks[0].LabelRanges[0], "No tables", "The file holds no values.",
			"Add tables: a list of rows for each run.")
	}
	out := f.tables(entries, own, root.Blocks[0].Labels[0], false)
	for _, ref := range out {
		ref.Environment = environment
	}
	return out
}

// fingerprint is how a result document names an environment.
var fingerprint = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// measuredIn is the environment in which the values of a file were measured, "" if it
// does not say.
func (l *loader) measuredIn(content *hcl.BodyContent) string {
	expr := argument(content, "environment")
	if expr == nil {
		return ""
	}
	text, ok := l.text(expr, "environment")
	if ok && !fingerprint.MatchString(text) {
		l.error(expr.Range(), "Invalid value", fmt.Sprintf("environment is the fingerprint of a session's environment, sha256: and 64 hexadecimal digits, and %q is none.",
			text),
			"It is environment.fingerprint of its result document. Without the key, the values hold in every environment.")
	}
	return text
}

// tables reads lists of rows by run. all says that a table of an unknown run is
// an error.
func (l *loader) tables(entries []entry, own []*Run, name string, all bool) map[string]*expression.Reference {
	byName := map[string]*Run{}
	var names []string
	for _, r := range own {
		names = append(names, r.Name)
		byName[r.Name] = r
	}
	out := map[string]*expression.Reference{}
	for _, e := range entries {
		r := byName[e.name]
		if r == nil && all && !l.incomplete {
			l.error(e.at, "Unknown run", fmt.Sprintf("There is no run %q in this file.", e.name),
				suggest.Sentence(e.name, names, "runs"))
		}
		if r == nil || r.Workload == nil {
			continue
		}
		rows, diags := hcl.ExprList(e.expr)
		if diags.HasErrors() {
			l.error(e.expr.Range(), "Not a list", "A table is a list of rows.", "Write [{AXIS: value, METRIC: value}].")
			continue
		}
		ref := &expression.Reference{Name: name}
		seen := map[string]bool{}
		for _, row := range rows {
			at, ok := l.row(row, r, ref)
			if ok && seen[at] {
				l.error(row.Range(), "Duplicate row",
					fmt.Sprintf("The table of run %q already has a row for these values.", r.Name),
					"Remove one of the two.")
			}
			seen[at] = true
		}
		out[e.name] = ref
	}
	return out
}

// row reads the values of one point. at is a text of the point.
func (l *loader) row(expr hcl.Expression, r *Run, ref *expression.Reference) (at string, ok bool) {
	row := expression.ReferenceRow{At: map[string]string{}, Values: map[string]float64{}}
	before := len(l.diags)
	for _, e := range l.mapping(expr, "a row") {
		if e.name == noiseColumn && r.axis(e.name) == nil {
			row.Noise = l.noise(e.expr, r)
			continue
		}
		text, ok := l.text(e.expr, e.name)
		if !ok {
			continue
		}
		i := item{text: text, at: e.expr.Range()}
		option, isOption := r.Workload.Option(e.name)
		metric, isMetric := r.metric(e.name)
		switch axis := r.axis(e.name); {
		case isOption:
			parsed, err := option.Parse(text)
			if err != nil {
				l.error(i.at, "Invalid value", fmt.Sprintf("Option %s: %v.", e.name, err), "")
				continue
			}
			row.At[e.name] = workload.Text(parsed)
		case axis != nil:
			row.At[e.name] = axis.textOf(text)
		case isMetric:
			row.Values[e.name] = l.metricValue(i, metric)
		default:
			l.error(e.at, "Unknown column", fmt.Sprintf("%q is neither an axis nor an option nor a metric of run %q.",
				e.name, r.Name), suggest.Documented(e.name, columns(r), "columns", "weir docs workloads"))
		}
	}
	if len(l.diags) > before {
		return "", false
	}
	if len(row.Values) == 0 {
		l.error(expr.Range(), "Row without values", "The row gives no metric a value.",
			suggest.Documented("", metricNames(r), "metrics", "weir docs metrics"))
		return "", false
	}
	ref.Rows = append(ref.Rows, row)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(row.At)) {
		parts = append(parts, name+"="+row.At[name])
	}
	return strings.Join(parts, "\x00"), true
}

// metricValue reads an expected value in base units; a bare number is in the
// metric's own unit.
func (l *loader) metricValue(i item, m workload.Metric) float64 {
	q, err := quantity.Parse(i.text)
	if err != nil {
		l.error(i.at, "Invalid value", fmt.Sprintf("%s: %v.", m.Name, err), "")
		return 0
	}
	if q.Unit == "" {
		unit, _ := quantity.UnitOf(m.Unit)
		return quantity.Round(q.Value * unit.Factor)
	}
	if q.Dim != m.Dim() {
		l.error(i.at, "Invalid value", fmt.Sprintf("%s is a %s, and %q is a %s.", m.Name, m.Dim(), i.text, q.Dim), "")
	}
	return quantity.Round(q.Value)
}

// textOf is the canonical text of an axis value as cases have it, however a
// table spells the number.
func (a *Axis) textOf(text string) string {
	n, isNumber := parseNumber(text)
	for _, v := range a.Values {
		if f, ok := v.Value.(float64); ok && isNumber && f == n {
			return v.Text
		}
	}
	return text
}

func metricNames(r *Run) []string {
	var names []string
	for _, m := range r.measured() {
		names = append(names, m.Name)
	}
	return names
}

func columns(r *Run) []string {
	names := slices.Concat(optionNames(r.Workload), metricNames(r))
	for _, a := range r.Axes {
		if !slices.Contains(names, a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Tables of reference values.

package dsl

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/expression"
	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/internal/yamlsyntax"
	"github.com/weir-bench/weir/workload"
)

// referenceReader reads tables of expected values for the runs of a file.
type referenceReader struct {
	*loader
	runs []*Run
}

func (l *loader) referencesOf(runs []*Run) *referenceReader { return &referenceReader{l, runs} }

// read reads the tables of this file, or of a separate file, and returns them by run.
func (rr *referenceReader) read(content *hcl.BodyContent) map[string]*expression.Reference {
	expr := argument(content, "references")
	// a file from the command line may be of other scenarios with runs of the same names
	asked := !hasKey(content, "references") && bytes.Contains(rr.src, []byte("reference."))
	if from := rr.all.options.References; from != nil && asked {
		return rr.file(from.File, from.At)
	}
	if expr == nil || isMapping(expr) {
		return rr.tables(rr.section(content, "references"), "references", true)
	}
	name, ok := rr.text(expr, "references")
	if !ok {
		return nil
	}
	return rr.file(rr.relative(name), expr.Range())
}

func (rr *referenceReader) file(path string, at hcl.Range) map[string]*expression.Reference {
	src, err := rr.all.options.Read(path)
	if rr.unread = err != nil; rr.unread {
		rr.cannotRead(at, "Cannot read the references", path, err)
		return nil
	}
	return rr.parse(path, src, at)
}

// parse reads a file of reference values, YAML or JSON. Tables of other scenarios' runs are
// allowed.
func (rr *referenceReader) parse(path string, src []byte, at hcl.Range) map[string]*expression.Reference {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		// YAML forbids tabs as indentation; texts of JSON have none
		src = bytes.ReplaceAll(src, []byte("\t"), []byte(" "))
	case ".yaml", ".yml":
	default:
		rr.error(at, "Unknown kind of file", path+" has none of the extensions .yaml, .yml and .json.", "")
		return nil
	}
	file, diags := yamlsyntax.Parse(src, path, "reference")
	noEnv := func(string) (string, bool) { return "", false }
	f := newLoader(rr.all, path, src, diags, &evaluator{env: noEnv, functions: functions}).referencesOf(rr.runs)
	f.yaml, file.Nav = true, f.places
	rr.all.addFile(path, file)
	defer func() { rr.all.diags = append(rr.all.diags, f.diags...) }()
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
		f.error(root.Blocks[0].LabelRanges[0], "No tables", "The file has no tables.",
			"Add tables: a list of rows for each run.")
	}
	out := f.tables(entries, root.Blocks[0].Labels[0], false)
	for _, ref := range out {
		ref.Environment = environment
	}
	return out
}

// fingerprint is the form of environment.fingerprint in result documents.
var fingerprint = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// measuredIn returns the environment in which the values of a file were measured; "" if the file
// has none.
func (rr *referenceReader) measuredIn(content *hcl.BodyContent) string {
	expr := argument(content, "environment")
	if expr == nil {
		return ""
	}
	text, ok := rr.text(expr, "environment")
	if ok && !fingerprint().MatchString(text) {
		rr.error(
			expr.Range(),
			"Invalid value",
			fmt.Sprintf(
				"environment is sha256: with 64 hexadecimal digits, not %q.",
				text,
			),
			"Copy environment.fingerprint of a result document. Without the key, the values hold in every environment.",
		)
	}
	return text
}

// tables reads lists of rows by run. With all, a table of an unknown run is an error.
func (rr *referenceReader) tables(entries []entry, name string, all bool) map[string]*expression.Reference {
	byName := map[string]*Run{}
	var names []string
	for _, r := range rr.runs {
		names = append(names, r.Name)
		byName[r.Name] = r
	}
	out := map[string]*expression.Reference{}
	for _, e := range entries {
		r := byName[e.name]
		if r == nil && all && !rr.incomplete {
			rr.error(e.at, "Unknown run", fmt.Sprintf("There is no run %q in this file.", e.name),
				suggest.Sentence(e.name, names, "runs"))
		}
		if r == nil || r.Workload == nil {
			continue
		}
		rows, ok := rr.items(e.expr, "A table is a list of rows.", "Write [{AXIS: value, METRIC: value}].")
		if !ok {
			continue
		}
		ref := &expression.Reference{Name: name}
		seen := map[string]bool{}
		for _, row := range rows {
			at, ok := rr.row(row, r, ref)
			if ok && seen[at] {
				rr.error(row.Range(), "Duplicate row",
					fmt.Sprintf("The table of run %q already has a row for these values.", r.Name),
					"Remove one of the two.")
			}
			seen[at] = true
		}
		out[e.name] = ref
	}
	return out
}

// row reads the values of one point. at identifies the point.
func (rr *referenceReader) row(expr hcl.Expression, r *Run, ref *expression.Reference) (at string, ok bool) {
	row := expression.ReferenceRow{At: map[string]string{}, Values: map[string]float64{}}
	before := len(rr.diags)
	for _, e := range rr.mapping(expr, "a row") {
		if e.name == noiseColumn && r.axis(e.name) == nil {
			row.Noise = rr.noise(e.expr, r)
			continue
		}
		text, ok := rr.text(e.expr, e.name)
		if !ok {
			continue
		}
		i := item{text: text, at: e.expr.Range()}
		opt, isOption := r.Workload.Option(e.name)
		metric, isMetric := r.metric(e.name)
		switch axis := r.axis(e.name); {
		case isOption:
			parsed, err := opt.Parse(text)
			if err != nil {
				rr.error(i.at, "Invalid value", fmt.Sprintf("Option %s: %v.", e.name, err), "")
				continue
			}
			row.At[e.name] = option.Text(parsed)
		case axis != nil:
			row.At[e.name] = axis.textOf(text)
		case isMetric:
			row.Values[e.name] = rr.metricValue(i, metric)
		default:
			rr.error(e.at, "Unknown column", fmt.Sprintf("%q is neither an axis nor an option nor a metric of run %q.",
				e.name, r.Name), suggest.Documented(e.name, columns(r), "columns", "weir docs workloads"))
		}
	}
	if len(rr.diags) > before {
		return "", false
	}
	if len(row.Values) == 0 {
		rr.error(expr.Range(), "Row without values", "The row gives no metric a value.",
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

// metricValue reads an expected value in base units. A plain number is in the metric's own unit.
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
		l.error(i.at, "Invalid value", fmt.Sprintf("%s is a %s, but %q is a %s.", m.Name, m.Dim(), i.text, q.Dim), "")
	}
	return quantity.Round(q.Value)
}

// textOf returns the canonical text of an axis value, however a table spells it.
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
		names = ordered.Append(names, a.Name)
	}
	return names
}

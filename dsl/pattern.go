// The patterns of a sequence: from the scenario, from a file or from a model.

package dsl

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/interop/ctperftest"
	"github.com/weir-bench/weir/workload"
)

// sequenceItems reads a list of patterns.
func (s *sweeper) sequenceItems(e entry) []sequenceItem {
	list, diags := hcl.ExprList(e.expr)
	switch {
	case diags.HasErrors():
		s.error(e.expr.Range(), "Not a list",
			fmt.Sprintf("%s is a list, with a mapping for each pattern of the sequence.",
				capital(quote(e.name))), "Write each as an item with its matrix or matrix_file.")
		return nil
	case len(list) == 0:
		s.error(e.expr.Range(), "Empty sequence",
			fmt.Sprintf("%s has no items, so nothing would run.", capital(quote(e.name))), "Give it patterns.")
		return nil
	}
	var items []sequenceItem
	before := len(s.diags)
	for i, expr := range list {
		if !s.refusePoint(expr, severalRuns) {
			return nil
		}
		items = append(items, s.sequenceItem(i, expr))
	}
	if s.diags[before:].HasErrors() {
		return nil
	}
	return items
}

func (s *sweeper) sequenceItem(i int, expr hcl.Expression) sequenceItem {
	item := sequenceItem{values: map[string]any{}, at: expr.Range()}
	what := fmt.Sprintf("pattern %d", i)
	before := len(s.diags)
	for _, e := range s.mapping(expr, what) {
		if e.name == "metadata" {
			item.metadata = s.metadata(e)
			continue
		}
		if name, v := s.itemValue(e, what); v != nil {
			if _, twice := item.values[name]; twice {
				s.error(e.at, "Given twice", fmt.Sprintf("%s has %s already.", capital(what), name),
					"Keep one of the two.")
			}
			item.values[name] = v
		}
	}
	if _, ok := item.values["matrix"]; !ok && !s.diags[before:].HasErrors() {
		s.error(item.at, "No matrix", fmt.Sprintf("%s has no matrix.", capital(what)),
			"Give it a matrix or a matrix_file.")
	}
	return item
}

// itemValue reads one key of an item: the name of the option and its value.
func (s *sweeper) itemValue(e entry, what string) (string, any) {
	kind := s.run.Workload
	if e.name == "matrix_file" {
		name, ok := s.text(e.expr, e.name)
		if !ok {
			return "", nil
		}
		text, _ := s.matrixFile(name, e.expr.Range())
		return "matrix", text
	}
	name, inSeconds := strings.CutSuffix(e.name, workload.InSeconds)
	o, ok := kind.Option(name)
	if !ok || o.Item == option.NoItem || o.Name == kind.Sequence || inSeconds && o.Type != option.Time {
		s.error(e.at, "Unknown key", fmt.Sprintf("There is no %q in a pattern.", e.name),
			suggest.Sentence(e.name, itemKeys(kind), "keys"))
		return "", nil
	}
	if o.Type == option.Matrix {
		if rows, diags := hcl.ExprList(e.expr); !diags.HasErrors() {
			if text, ok := s.rows(rows, e.expr.Range()); ok {
				return name, text
			}
			return "", nil
		}
	}
	text, ok := s.text(e.expr, e.name+" of "+what)
	if !ok {
		return "", nil
	}
	if inSeconds {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			s.error(e.expr.Range(), "Invalid value", fmt.Sprintf("%s is a plain number of seconds, not %q.", e.name,
				text), "With a unit it is written "+name+": "+text+".")
			return "", nil
		}
		text += "s"
	}
	v, err := o.Parse(text)
	if err != nil {
		s.error(e.expr.Range(), "Invalid value", fmt.Sprintf("%s of %s: %v.", e.name, what, err), "")
		return "", nil
	}
	return name, v
}

// itemKeys are the keys that an item may have.
func itemKeys(kind *workload.Kind) []string {
	keys := []string{"matrix_file"}
	for _, o := range kind.ItemOptions() {
		keys = append(keys, o.Name)
		if o.Type == option.Time {
			keys = append(keys, o.Name+workload.InSeconds)
		}
	}
	return keys
}

func (s *sweeper) metadata(e entry) []matrix.Field {
	var fields []matrix.Field
	for _, f := range s.mapping(e.expr, "metadata") {
		if text, ok := s.text(f.expr, f.name+" of metadata"); ok {
			fields = append(fields, matrix.Field{Key: f.name, Value: text})
		}
	}
	return fields
}

// sequenceFile reads a metadata.yaml with all its matrices. Errors point into that file.
func (s *sweeper) sequenceFile(expr hcl.Expression, given []entry) []sequenceItem {
	if !s.refusePoint(expr, severalRuns) {
		return nil
	}
	name, ok := s.text(expr, "metadata_file")
	if !ok || name == "" { // a variable left it empty
		return nil
	}
	s.run.metadata = name
	path := s.relative(name)
	if ext := filepath.Ext(path); ext != ".yaml" && ext != ".yml" {
		path = filepath.Join(path, ctperftest.MetadataFile)
	}
	c, files, diags := ctperftest.ReadWith(path, s.all.options.Read)
	for file, f := range files {
		s.all.addFile(file, f)
	}
	for _, d := range diags {
		if d.Subject == nil { // it concerns the whole file
			d.Subject = expr.Range().Ptr()
		}
		s.diags = append(s.diags, d)
	}
	if c == nil {
		return nil
	}
	if !s.memoryOfFile(c, given) {
		return nil
	}
	var items []sequenceItem
	for i, p := range c.Patterns {
		item := patternItem(p.Pattern, expr.Range())
		item.values["op"], item.values["shards"] = p.Op, int64(p.Shards)
		if err := option.CheckMatrix(p.Matrix); err != nil {
			s.error(expr.Range(), "Invalid matrix", fmt.Sprintf("Pattern %d in %s: %v.", i, path, err), "")
			return nil
		}
		items = append(items, item)
	}
	return items
}

// memoryOfFile refuses a file that asks for an unknown kind of memory, unless the run sets the
// memory itself.
func (s *sweeper) memoryOfFile(c *ctperftest.Config, given []entry) bool {
	o, _ := s.run.Workload.Option("memory")
	own := slices.ContainsFunc(given, func(e entry) bool { return e.name == o.Name }) || s.run.axis(o.Name) != nil
	for _, p := range c.Patterns {
		if _, err := o.Parse(p.Memory); err != nil && p.Said.Filename != "" && !own {
			s.error(p.Said, "Invalid value", fmt.Sprintf("Option %s: %v.", o.Name, err), "Write memory: "+o.Values[0]+
				" beside metadata_file: it overrides the file.")
			return false
		}
	}
	return true
}

// sequenceOfModel makes the sequence of a model's requests.
func (s *sweeper) sequenceOfModel(e entry) []sequenceItem {
	var items []sequenceItem
	for _, p := range s.generateTraffic(e) {
		items = append(items, patternItem(p, e.expr.Range()))
	}
	return items
}

// patternItem converts a pattern to an item. Sleeps are rounded to nanoseconds.
func patternItem(p matrix.Pattern, at hcl.Range) sequenceItem {
	sleep := func(seconds float64) quantity.Time { return quantity.Time(math.Round(seconds * 1e9)) }
	return sequenceItem{at: at, metadata: p.Metadata, values: map[string]any{
		"matrix": p.Matrix.Compact(), "sleep_before_launch": sleep(p.SleepBefore),
		"sleep_after_launch": sleep(p.SleepAfter),
	}}
}

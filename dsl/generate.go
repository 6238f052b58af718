// Traffic generated from a model and its requests.

package dsl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/suggest"
	played "github.com/weir-bench/weir/workload/sequence"
	"github.com/weir-bench/weir/workload/traffic/model"
)

// generateTraffic makes the traffic of a model and its requests; nil after an error, which it reports.
func (l *loader) generateTraffic(e entry) []matrix.Pattern {
	if !l.refusePoint(e.expr, severalRuns) {
		return nil
	}
	spec := model.NewSpec()
	spec.MostRanks = option.MostRanks
	spec.Open = func(path string) (io.ReadCloser, error) {
		src, err := l.all.options.Read(l.relative(path))
		return io.NopCloser(bytes.NewReader(src)), err
	}
	at := map[string]hcl.Range{}
	before := len(l.diags)
	sound := true
	for _, f := range l.mapping(e.expr, e.name) {
		if !slices.Contains(fieldNames(), f.name) {
			hint := suggest.Documented(f.name, fieldNames(), "keys", "weir docs generate")
			if _, isNumber := parseNumber(f.name); isNumber { // YAML ends a value at a comma
				hint = `Quote a distribution that has a comma: "normal:16000,10000".`
			}
			l.error(f.at, "Unknown key", fmt.Sprintf("There is no %q in %s.", f.name, e.name), hint)
			continue
		}
		text, ok := l.text(f.expr, f.name+" of "+e.name)
		if !ok {
			sound = false
			continue
		}
		if err := spec.Set(f.name, text); err != nil {
			l.error(f.expr.Range(), "Invalid value", fmt.Sprintf("%s of %s: %v.", f.name, e.name, err), "")
		}
		at[f.name] = f.expr.Range()
	}
	if !sound || len(l.diags) > before {
		return nil
	}
	_, patterns, err := spec.Patterns()
	if err != nil {
		place := e.expr.Range()
		if due, ok := errors.AsType[*model.FieldError](err); ok {
			if r, given := at[due.Field]; given {
				place = r
			}
		}
		l.error(place, "Invalid traffic", fmt.Sprintf("Of %s: %v.", e.name, err), "")
		return nil
	}
	for i, p := range patterns {
		if err := option.CheckMatrix(p.Matrix); err != nil {
			l.error(e.expr.Range(), "Invalid matrix", fmt.Sprintf("Of pattern %d: %v.", i, err),
				"A bytes_scale makes all cells smaller.")
			return nil
		}
	}
	return patterns
}

// generateMatrix is fromModel for a workload with a single matrix: it returns the canonical text.
func (l *loader) generateMatrix(e entry) (text string, ok bool) {
	patterns := l.generateTraffic(e)
	if len(patterns) > 1 {
		l.error(e.expr.Range(), "Several matrices",
			fmt.Sprintf("The requests make %d batches with one matrix each, but this workload takes a single matrix.",
				len(patterns)),
			fmt.Sprintf("Make one batch (requests: 1, or a larger batch_size), or use workload %s.",
				played.Kind.Name))
	}
	if len(patterns) != 1 {
		return "", false
	}
	return patterns[0].Matrix.Compact(), true
}

func fieldNames() []string {
	var names []string
	for _, f := range model.Fields() {
		names = append(names, f.Name)
	}
	return names
}

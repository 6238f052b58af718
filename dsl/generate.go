package dsl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"weir/matgen"
	"weir/matrix"
	"weir/suggest"
	"weir/workload"
	played "weir/workload/sequence"
)

// The bounds of traffic that is generated from a model.
const (
	maxRanks    = 1024 // as workload.CheckMatrix has it, but before the work
	maxRequests = 1_000_000
	maxWork     = 100_000_000 // of all runs together, some ns each
	bytesOfCell = 32          // more than the text of a cell has, which counts towards maxMatrices
)

// fromModel makes the traffic of a model and its requests, nil if something is wrong
// with what is said of them.
func (l *loader) fromModel(e entry) []matrix.Pattern {
	if !l.fixed(e.expr, severalRuns) {
		return nil
	}
	g := l.all
	spec := matgen.NewSpec()
	spec.Most = matgen.Limits{
		Ranks: maxRanks, Requests: maxRequests, Patterns: maxPatterns, Cells: max(1, (maxMatrices-g.cells)/bytesOfCell),
		Work: max(1, maxWork-g.work),
	}
	spec.Open = func(path string) (io.ReadCloser, error) {
		src, err := g.matrixSource(l.relative(path))
		return io.NopCloser(bytes.NewReader(src)), err
	}
	at := map[string]hcl.Range{}
	before := len(l.diags)
	sound := true
	for _, f := range l.mapping(e.expr, e.name) {
		if !slices.Contains(fieldNames(), f.name) {
			hint := suggest.Documented(f.name, fieldNames(), "keys", "weir docs generate")
			if _, isNumber := parseNumber(f.name); isNumber { // YAML ends a value at a comma
				hint = `A distribution with a comma in it stands in quotes: "normal:16000,10000".`
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
	g.work += spec.Work() + 1
	if err != nil {
		place := e.expr.Range()
		if due, ok := errors.AsType[*matgen.FieldError](err); ok {
			if r, given := at[due.Field]; given {
				place = r
			}
		}
		l.error(place, "Invalid traffic", fmt.Sprintf("Of %s: %v.", e.name, err), "")
		return nil
	}
	for i, p := range patterns {
		if err := workload.CheckMatrix(p.Matrix); err != nil {
			l.error(e.expr.Range(), "Invalid matrix", fmt.Sprintf("Of pattern %d: %v.", i, err),
				"A bytes_scale makes all cells smaller.")
			return nil
		}
	}
	return patterns
}

// modelMatrix is fromModel for a workload that moves one matrix: its canonical text.
func (l *loader) modelMatrix(e entry) (text string, ok bool) {
	patterns := l.fromModel(e)
	if len(patterns) > 1 {
		l.error(e.expr.Range(), "Several matrices",
			fmt.Sprintf("The requests make %d batches with a matrix each, and this workload moves one.", len(patterns)),
			fmt.Sprintf("Make one batch of them (requests: 1, or a larger batch_size), or use workload %s.",
				played.Kind.Name))
	}
	if len(patterns) != 1 {
		return "", false
	}
	text = patterns[0].Matrix.Compact()
	l.all.cells += len(text)
	return text, true
}

func fieldNames() []string {
	var names []string
	for _, f := range matgen.Fields() {
		names = append(names, f.Name)
	}
	return names
}

// matrixSource reads a file that says what is moved; all of them together are bounded.
func (g *loading) matrixSource(path string) ([]byte, error) {
	src, err := g.options.Read(path)
	if g.cells += len(src); err == nil && g.cells > maxMatrices {
		return nil, fmt.Errorf("with %s the matrices of the scenario have more than %d bytes, which is the most for all of them together",
			path, maxMatrices)
	}
	return src, err
}

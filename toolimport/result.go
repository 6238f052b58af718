package toolimport

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir/results"
	"weir/tooloutput"
	"weir/workload"
)

// ResultTools are the tools whose result files become result documents, each a format of
// tooloutput.
func ResultTools() []string { return []string{"aiperf", "guidellm", "vllm-bench"} }

// ResultOptions say what an imported document is.
type ResultOptions struct {
	Run string // the run that its cases are of
	// Case is the key of the only case, so that it stands beside the case of a scenario; "": from
	// what the file says
	Case string
	Made time.Time // when the file was written
	Weir results.Version
}

// loads are the keys of rows that are options of a load, in the order in which they stand in keys of
// cases.
var loads = []string{"concurrency", "rate"}

// ofSession is the key of a row that a session of weir wrote: its case.
const ofSession = "case"

// Result makes a document of a result file of another tool: each of its results is a case with one
// launch, of workload serving. The definition of a metric says what the tool means by it.
func Result(tool, file string, content []byte, o ResultOptions) (*results.Document, error) {
	format, known := tooloutput.Lookup(tool)
	if !known || !slices.Contains(ResultTools(), tool) {
		return nil, fmt.Errorf(
			"there is no import of results of %s; there are %s",
			tool,
			strings.Join(ResultTools(), ", "),
		)
	}
	rows, err := format.Read(content)
	if err != nil {
		return nil, err
	}
	if o.Case != "" && len(rows) > 1 {
		return nil, fmt.Errorf("--case names one case, and the file has %d results", len(rows))
	}
	d := digest(content)
	doc := &results.Document{
		Schema: results.Schema,
		Session: results.Session{
			ID: "imported-" + tool + "-" + d[len("sha256:"):][:12], Started: o.Made, Finished: o.Made,
			Status: results.Passed, Argv: []string{"weir", "import", tool, filepath.Base(file)},
		},
		Weir: o.Weir,
		Scenario: results.Scenario{
			Name: tool, Description: "a result of " + tool + ", which weir did not measure", File: filepath.Base(file),
			Digest: d, Variables: map[string]string{},
		},
		Plan:        results.Plan{Digest: d, Cases: len(rows)},
		Environment: results.Environment{Fingerprint: digest(nil)},
		Assertions:  []*results.AssertionVerdict{},
	}
	if doc.Weir.Go == "" {
		doc.Weir.Go = runtime.Version()
	}
	for _, row := range rows {
		c := caseOf(row, o, tool, d)
		if slices.ContainsFunc(doc.Cases, func(other *results.Case) bool { return other.Key == c.Key }) {
			return nil, fmt.Errorf("two results of the file are case %s: line %d is the second", c.Key, row.Line)
		}
		doc.Cases = append(doc.Cases, c)
		if !slices.ContainsFunc(doc.Metrics, func(t results.MetricTable) bool { return t.Run == c.Run }) {
			doc.Metrics = append(doc.Metrics,
				results.MetricTable{Workload: "serving", Run: c.Run, Definitions: definitions(format, rows)})
		}
	}
	return doc, nil
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

func caseOf(row tooloutput.Row, o ResultOptions, tool, source string) *results.Case {
	c := &results.Case{
		Run: o.Run, Workload: "serving", Axes: map[string]any{}, AxisOrder: []string{},
		Options: map[string]any{"tool": tool}, Env: map[string]string{}, Status: results.OK, Made: 1,
		Assertions: []*results.AssertionVerdict{},
		Launches: []*results.Launch{{
			Started: o.Made, Status: results.OK, Nodes: []string{}, Metrics: results.ValuesOf(row.Values),
			Samples: []string{}, Verified: true,
		}},
	}
	var at []string
	for _, name := range loads {
		if text := row.At[name]; text != "" && text != "null" && text != "inf" {
			c.AxisOrder = append(c.AxisOrder, name)
			c.Axes[name] = valueOf(text)
			at = append(at, name+"="+text)
		}
	}
	if c.Key = o.Run; len(at) > 0 {
		c.Key += "[" + strings.Join(at, ",") + "]"
	}
	if own := row.At[ofSession]; own != "" { // of a session of weir, whose run it keeps
		c.Key = own
		c.Run, _, _ = strings.Cut(own, "[")
	}
	if o.Case != "" {
		c.Key = o.Case
	}
	c.ID = digest([]byte(source + "\x00" + c.Key))
	return c
}

// valueOf is a text as a number, if it is one.
func valueOf(text string) any {
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v
	}
	return text
}

// definitions are those of the metrics that are there, with what the tool calls so.
func definitions(f tooloutput.Format, rows []tooloutput.Row) (all []results.Metric) {
	for _, m := range f.Metrics {
		if !slices.ContainsFunc(rows, func(r tooloutput.Row) bool { _, ok := r.Values[m.Name]; return ok }) {
			continue
		}
		one := results.Metric{
			Name: m.Name, Unit: m.Unit, Better: workload.Direction(m.Better), MayBeZero: m.MayBeZero,
			Doc: f.Name + ": " + m.Doc,
		}
		all = append(all, one)
	}
	return all
}

package importer

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/interop/output"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// ResultTools returns the tools with result files that can be converted to result documents; each
// is a format of package output.
func ResultTools() []string {
	return []string{
		"aiperf", "evalscope", "genai-perf", "guidellm", "inference-perf", "llm-d", "llmperf", "sglang-bench",
		"vllm-bench",
	}
}

// sameFormat are tools whose files have the format of another.
var sameFormat = map[string]string{"genai-perf": "aiperf", "sglang-bench": "vllm-bench"}

// formatOf returns the format of a tool's files.
func formatOf(tool string) (output.Format, bool) {
	if other := sameFormat[tool]; other != "" {
		tool = other
	}
	return output.Lookup(tool)
}

// ResultOptions describe an imported document.
type ResultOptions struct {
	Run string // the run of its cases
	// Case is the key of the only case, to match a case of a scenario; "": derived from the file
	Case string
	Made time.Time // when the file was written
	Weir results.Version
}

// byRate is the key of an open load.
const byRate = "rate"

// loads are the keys of rows that are options of a load, in the order of case keys.
var loads = []string{byRate, "concurrency"}

// ofSession is the key of rows written by a session of weir: the case.
const ofSession = "case"

// ofSweep is the key of rows that numbers the runs of the same load in a sweep.
const ofSweep = "run"

// Result converts a result file of another tool to a document: each result is a case of workload
// serving with one launch, or with a launch for each run of a sweep. Definitions of metrics are those of the tool.
func Result(tool, file string, content []byte, o ResultOptions) (*results.Document, error) {
	format, known := formatOf(tool)
	if !known || !slices.Contains(ResultTools(), tool) {
		return nil, fmt.Errorf(
			"results of %s cannot be imported; supported are %s",
			tool,
			strings.Join(ResultTools(), ", "),
		)
	}
	rows, err := format.Read(content)
	if err != nil {
		return nil, err
	}
	d := digest(content)
	doc := &results.Document{
		Schema: results.Schema,
		Session: results.Session{
			ID: "imported-" + tool + "-" + d[len("sha256:"):][:12], Started: o.Made, Finished: o.Made,
			Status: results.Passed, Argv: []string{"weir", "import", tool, filepath.Base(file)}, Imported: true,
		},
		Weir: o.Weir,
		Scenario: results.Scenario{
			Name: tool, Description: "a result of " + written(tool, rows) + ", not measured by weir",
			File: filepath.Base(file), Digest: d, Variables: map[string]string{},
		},
		Plan:       results.Plan{Digest: d},
		Assertions: []*results.AssertionVerdict{},
	}
	if doc.Weir.Go == "" {
		doc.Weir.Go = runtime.Version()
	}
	for i, run := range runsOfRows(rows, o.Run) {
		row := rows[i]
		of := o
		of.Run = run
		c := caseOf(row, of, tool, d)
		same := slices.IndexFunc(doc.Cases, func(other *results.Case) bool { return other.Key == c.Key })
		switch {
		case same < 0 && o.Case != "" && i > 0:
			return nil, fmt.Errorf("--case names one case, but the file has results of several")
		case same >= 0 && row.At[ofSweep] == "":
			return nil, fmt.Errorf("two results of the file are case %s: line %d is the second", c.Key, row.Line)
		case same >= 0:
			of := doc.Cases[same]
			of.Launches, of.Made = append(of.Launches, c.Launches...), of.Made+1
			continue
		}
		doc.Cases = append(doc.Cases, c)
		if !slices.ContainsFunc(doc.Metrics, func(t results.MetricTable) bool { return t.Run == c.Run }) {
			doc.Metrics = append(doc.Metrics,
				results.MetricTable{Workload: "serving", Run: c.Run, Definitions: definitions(format, rows)})
		}
	}
	doc.Plan.Cases = len(doc.Cases)
	if o.Case != "" {
		doc.Cases[0].Key, doc.Cases[0].ID = o.Case, digest([]byte(d+"\x00"+o.Case))
	}
	return doc, nil
}

// written names a tool with the version that the file says.
func written(tool string, rows []output.Row) string {
	if len(rows) > 0 && rows[0].Version != "" {
		return tool + " " + rows[0].Version
	}
	return tool
}

func digest(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

func caseOf(row output.Row, o ResultOptions, tool, source string) *results.Case {
	options := map[string]any{"tool": tool}
	if row.Version != "" {
		options["tool_version"] = row.Version
	}
	c := &results.Case{
		Run: o.Run, Workload: "serving", Axes: map[string]any{}, AxisOrder: []string{},
		Options: options, Env: map[string]string{}, Status: results.OK, Made: 1,
		Assertions: []*results.AssertionVerdict{},
		Launches: []*results.Launch{{
			Started: o.Made, Status: results.OK, Nodes: []string{}, Metrics: results.ValuesOf(row.Values),
			Samples: []string{}, Verified: true,
		}},
	}
	for name, text := range row.Load {
		options[ofLoad+name] = text
	}
	if others := slices.Sorted(maps.Keys(row.Others)); others != nil {
		options["unread"] = strings.Join(others, ", ")
	}
	var at []string
	for _, a := range axesOfRow(row) {
		c.AxisOrder = append(c.AxisOrder, a.axis)
		c.Axes[a.axis] = a.value
		at = append(at, a.axis+"="+a.text)
	}
	slices.Sort(at) // as keys of a scenario's cases
	if c.Key = o.Run; len(at) > 0 {
		c.Key += "[" + strings.Join(at, ",") + "]"
	}
	if own := row.At[ofSession]; own != "" { // of a session of weir: keep its run
		c.Key = own
		c.Run, _, _ = strings.Cut(own, "[")
	}
	c.ID = digest([]byte(source + "\x00" + c.Key))
	return c
}

// definitions returns the definitions of the metrics present, with the tool's terms.
func definitions(f output.Format, rows []output.Row) (all []results.Metric) {
	for _, m := range f.Metrics {
		if !slices.ContainsFunc(rows, func(r output.Row) bool { _, ok := r.Values[m.Name]; return ok }) {
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

package metrics

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// nothing is what a case of the toy asks for.
type nothing struct{}

func (nothing) Demand() workload.Demand { return workload.Demand{Ranks: 1} }

func (nothing) Spec(option.Values) (workload.Spec, error) { return nothing{}, nil }

func (nothing) Reduce(*workload.Measured, *results.Launch) (map[string]float64, error) {
	return nil, nil
}

func init() {
	workload.Register(&workload.Kind{
		Name: "toy", Doc: "measures what its runs declare", DeclaresMetrics: true,
		Options:   []option.Option{{Name: "size", Type: option.Count, Default: int64(1), Min: 1}},
		Metrics:   []workload.Metric{{Name: "elapsed", Unit: "s", Better: workload.Lower, Doc: "from start to end"}},
		Behaviour: nothing{},
	})
}

const inYAML = `scenario: s
runs:
  build:
    workload: toy
    metrics:
      rate: {unit: 1/s, better: higher, doc: what is built each second}
      errors: {better: lower, may_be_zero: true}
      wait.p99: {unit: ms, better: lower}
    sweep: {size: [1, 2]}
    assert: [rate >= 10 1/s, errors <= 1, elapsed < 5s, wait.p99 <= 2 ms]
  plain:
    workload: toy
    assert: [elapsed < 5s]
`

const inHCL = `scenario "s" {
  run "build" {
    workload = "toy"
    metrics = {
      rate       = { unit = "1/s", better = "higher", doc = "what is built each second" }
      errors     = { better = "lower", may_be_zero = true }
      "wait.p99" = { unit = "ms", better = "lower" }
    }
    sweep { size = [1, 2] }
    assert = ["rate >= 10 1/s", "errors <= 1", "elapsed < 5s", "wait.p99 <= 2 ms"]
  }
  run "plain" {
    workload = "toy"
    assert   = ["elapsed < 5s"]
  }
}
`

func load(t *testing.T, file, text string) *dsl.Scenario {
	t.Helper()
	s, src, diags := dsl.Load(file, []byte(text), dsl.Options{})
	if diags.HasErrors() {
		var b bytes.Buffer
		_ = dsl.WriteDiagnostics(&b, "text", diags, src)
		t.Fatal(b.String())
	}
	return s
}

func plan(t *testing.T) *planner.Plan {
	t.Helper()
	p, diags := planner.Build(load(t, "s.yaml", inYAML))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return p
}

// A plan and the document of its session have a table for the run that declares metrics, and
// one for the others of its workload.
func TestTablesOfAPlan(t *testing.T) {
	elapsed := results.Metric{Name: "elapsed", Unit: "s", Better: "lower", Doc: "from start to end"}
	want := []results.MetricTable{
		{Workload: "toy", Run: "build", Definitions: []results.Metric{
			elapsed, {Name: "rate", Unit: "1/s", Better: "higher", Doc: "what is built each second"},
			{Name: "errors", Better: "lower", MayBeZero: true}, {Name: "wait.p99", Unit: "ms", Better: "lower"},
		}},
		{Workload: "toy", Definitions: []results.Metric{elapsed}},
	}
	p := plan(t)
	if diff := cmp.Diff(want, p.Metrics()); diff != "" {
		t.Error(diff)
	}
	var said strings.Builder
	if err := p.Text(&said); err != nil || !strings.Contains(strings.Join(strings.Fields(said.String()), " "),
		"elapsed s better lower, rate 1/s better higher, errors better lower may be 0, wait.p99 ms better lower") {
		t.Errorf("the plan does not tell of them, %v:\n%s", err, said.String())
	}
	inHCL, diags := planner.Build(load(t, "s.hcl", inHCL))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if diff := cmp.Diff(want, inHCL.Metrics()); diff != "" || inHCL.Digest != p.Digest {
		t.Errorf("HCL declares something else: %s", diff)
	}
	path := filepath.Join(t.TempDir(), "plan.json")
	text, err := p.Encode()
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	saved, err := planner.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, saved.Metrics()); diff != "" {
		t.Errorf("the saved plan: %s", diff)
	}
}

// What a run measures is part of what the plan does.
func TestMetricsArePartOfTheDigest(t *testing.T) {
	was := plan(t)
	now, diags := planner.Build(load(t, "s.yaml",
		strings.Replace(inYAML, "unit: ms, better: lower", "unit: ms, better: none", 1)))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if was.Digest == now.Digest {
		t.Error("another direction leaves the digest as it was")
	}
	changes, _ := planner.Diff(was, now)
	if len(changes) == 0 || !strings.Contains(strings.Join(changes[0].Why, "\n"), "wait.p99 ms better none") {
		t.Errorf("%+v do not tell of it", changes)
	}
}

// measured is a document in which all launches of the plan's cases gave these values.
func measured(p *planner.Plan, values ...map[string]float64) *results.Document {
	doc := &results.Document{
		Schema: results.Schema, Metrics: p.Metrics(), Session: results.Session{Status: results.Errored},
	}
	for _, c := range p.Cases {
		r := &results.Case{
			Key: c.Key, Run: c.Run, Workload: c.Workload, Axes: c.Axes, AxisOrder: c.AxisOrder, Options: c.Options,
			Status: results.OK,
		}
		for i, v := range values {
			r.Launches = append(r.Launches, &results.Launch{
				Index: i, Status: results.OK, Verified: true, Metrics: results.ValuesOf(v),
			})
		}
		for _, a := range c.Assertions {
			r.Assertions = append(r.Assertions, &results.AssertionVerdict{Assertion: a})
		}
		doc.Cases = append(doc.Cases, r)
	}
	return doc
}

// The gate and the reports take direction, unit and scale from the document.
func TestDeclaredMetricsAreJudgedAndShown(t *testing.T) {
	doc := measured(plan(t),
		map[string]float64{"elapsed": 1.1, "rate": 20, "errors": 0, "wait.p99": 2.5},
		map[string]float64{"elapsed": 1.2, "rate": 21, "errors": 0, "wait.p99": 2.6},
		map[string]float64{"elapsed": 1.3, "rate": 22, "errors": 0, "wait.p99": 2.7})
	gate.Judge(doc)
	c := doc.Cases[0]
	for i, want := range []results.Verdict{results.Pass, results.Pass, results.Pass, results.Fail} {
		if a := c.Assertions[i]; a.Verdict != want {
			t.Errorf("%s: %s, want %s: %s", a.Text, a.Verdict, want, a.Message)
		}
	}
	if m := c.Metrics.At("rate"); m.Unit != "1/s" || m.Better != "higher" {
		t.Errorf("rate is %+v", m)
	}
	if m := doc.Cases[len(doc.Cases)-1].Metrics.At("rate"); m.Unit != "" || m.Better != "none" {
		t.Errorf("a run that does not declare it has rate as %+v", m)
	}
	table, page := report(t, doc, "markdown"), report(t, doc, "html")
	for _, want := range []string{"| elapsed ms |", "| rate 1/s |", "| wait p99 ms |", "| errors |"} {
		if !strings.Contains(table, want) {
			t.Errorf("the table has no %q:\n%s", want, table)
		}
	}
	if !strings.Contains(page, `id="m-toy-build-rate"`) || !strings.Contains(page, "what is built each second") {
		t.Error("the page does not define the metric")
	}
	c2, err := gate.Compare(doc, doc, gate.CompareOptions{Metrics: []string{"errors", "wait.p99"}, Margin: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range c2.Effects {
		if e.Additive != (e.Metric == "errors") || e.Better != "lower" {
			t.Errorf("%s is compared as %+v", e.Metric, e)
		}
	}
}

func report(t *testing.T, doc *results.Document, format string) string {
	t.Helper()
	r, _ := reporters.Lookup(format)
	var b bytes.Buffer
	if err := r.Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A mistake is reported at its place, in both syntaxes.
func TestMetricsThatCannotBeDeclared(t *testing.T) {
	for name, c := range map[string]struct{ kind, yaml, hcl, summary, says string }{
		"unit": {"toy", "{x: {unit: «furlong», better: lower}}",
			`{ x = { unit = «"furlong"», better = "lower" } }`, "Unknown unit", "no unit \"furlong\""},
		"better": {"toy", "{x: {better: «up»}}", `{ x = { better = «"up"» } }`, "Invalid value", "higher, lower, none"},

		"no better": {"toy", "{x: «{unit: s}»}", `{ x = «{ unit = "s" }» }`, "Missing key",
			"Add better: higher, lower or none."},
		"key": {"toy", "{x: {better: lower, «docs»: d}}", `{ x = { better = "lower", «docs» = "d" } }`,
			"Unknown key", "Did you mean \"doc\"?"},
		"option": {"toy", "{«size»: {better: lower}}", `{ «size» = { better = "lower" } }`, "Hidden option",
			"workload toy"},
		"measured": {"toy", "{«elapsed»: {better: lower}}", `{ «elapsed» = { better = "lower" } }`, "Duplicate metric",
			"measures \"elapsed\" itself"},
		"twice": {"toy", "{x: {better: lower}, «x»: {better: lower}}", ``, "", "x"},
		"reserved": {"toy", "{«reference.x»: {better: lower}}", `{ «"reference.x"» = { better = "lower" } }`,
			"Invalid name", "has another meaning"},
		"function": {"toy", "{«median»: {better: lower}}", `{ «median» = { better = "lower" } }`, "Invalid name",
			"has another meaning"},
		"name": {"toy", "{«a-b»: {better: lower}}", `{ «"a-b"» = { better = "lower" } }`, "Invalid name",
			"letters, digits"},
		"not a map": {"toy", "{x: «lower»}", `{ x = «"lower"» }`, "Not a mapping", "must be a mapping"},
		"zero": {"toy", "{x: {better: lower, may_be_zero: «1»}}",
			`{ x = { better = "lower", may_be_zero = «1» } }`, "Invalid value", "true or false"},

		"other kinds": {"transfer", "{«x»: {better: lower}}", `{ «x» = { better = "lower" } }`,
			"Metrics of the workload", "workload transfer has fixed metrics"},
	} {
		options := "{}"
		if c.kind == "transfer" {
			options = "{block_size: 4096}"
		}
		yaml := "scenario: s\nruns:\n  a:\n    workload: " + c.kind + "\n    options: " + options + "\n    metrics: " +
			c.yaml + "\n"
		check(t, name, "s.yaml", yaml, c.summary, c.says)
		if c.hcl != "" {
			hcl := "scenario \"s\" {\n  run \"a\" {\n    workload = \"" + c.kind + "\"\n    options = " +
				strings.Replace(options, ":", " =", 1) + "\n    metrics = " + c.hcl + "\n  }\n}\n"
			check(t, name, "s.hcl", hcl, c.summary, c.says)
		}
	}
}

func check(t *testing.T, name, file, marked, summary, says string) {
	t.Helper()
	before, rest, _ := strings.Cut(marked, "«")
	at, after, _ := strings.Cut(rest, "»")
	text := before + at + after
	_, _, diags := dsl.Load(file, []byte(text), dsl.Options{})
	if len(diags) != 1 {
		t.Errorf("%s in %s: %d diagnostics: %v", name, file, len(diags), diags)
		return
	}
	d := diags[0]
	hint, _ := d.Extra.(dsl.Hint)
	if summary != "" && d.Summary != summary || !strings.Contains(d.Detail+" "+string(hint), says) {
		t.Errorf("%s in %s: %s: %s %s", name, file, d.Summary, d.Detail, hint)
	}
	if got := string(d.Subject.SliceBytes([]byte(text))); got != at {
		t.Errorf("%s in %s: it points at %q, not at %q", name, file, got, at)
	}
}

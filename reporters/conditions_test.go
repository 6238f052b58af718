package reporters

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// Below a table there are no command lines of programs, and no rows, which an axis names; machines have all.
func TestLongStructuresAreNotBelowTables(t *testing.T) {
	of := func(size, row string) *results.Case {
		return &results.Case{Key: size + row, Workload: "command", AxisOrder: []string{"size", "op"},
			Axes: map[string]any{"size": size, "op": row}, Options: map[string]any{"row": row,
				"parse": `{"of":"b","format":"lines","lines":"^(?<op>\\w+)\\s+(?<lat>[0-9.]+)","rows":"op"}`,
				"roles": `{"b":{"command":["python3","bench.py","--size","` + size + `"],"env":{"DATA":"data"}}}`,
			}}
	}
	cases := []*results.Case{of("1MiB", "read"), of("1MiB", "write"), of("4MiB", "read"), of("4MiB", "write")}
	if lines := conditionLines(cases); !slices.Contains(lines, "options: parse={…} roles={…}") {
		t.Errorf("%q", lines)
	}
	got := strings.Join(optionWords(cases[0], false, nil), " ")
	if !strings.Contains(got, "bench.py") || !strings.Contains(got, "row=read") {
		t.Error(got)
	}
}

// Structures stand in reports as a person writes them, in tables and on the page.
func TestOptionsOfStructure(t *testing.T) {
	c := &results.Case{Workload: "serving", Options: map[string]any{
		"model": "m", "requests": int64(120), "slo": `{"ttft":"60ms","itl":"8 ms"}`, "input": `{"tokens":"fixed:64"}`,
	}}
	want := `input={tokens: fixed:64} model=m requests=120 slo={ttft: 60ms, itl: "8 ms"}`
	if got := strings.Join(optionWords(c, false, nil), " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	kind, _ := workload.Lookup("serving")
	told := map[string]string{}
	for _, o := range optionsOf(kind, []*results.Case{c}) {
		told[o.name] = o.values[0]
	}
	if told["slo"] != `{ttft: 60ms, itl: "8 ms"}` || told["input"] != "{tokens: fixed:64}" ||
		told["requests"] != "120" {
		t.Errorf("the page has %v", told)
	}
}

// Where no launch of a case counts, a reader learns how to have them counted.
func TestVoidLaunches(t *testing.T) {
	void := &results.Launch{Discarded: "the hypervisor stole 14 % of the busy time of node a's processors"}
	doc := &results.Document{Cases: []*results.Case{
		{Key: "all", Launches: []*results.Launch{void, void}}, {Key: "one", Launches: []*results.Launch{void, {}}},
	}}
	want := []string{
		"all: 2 of 2 launches discarded (--disturbed keep counts them); last: " + void.Discarded,
		"one: 1 of 2 launches discarded; last: " + void.Discarded,
	}
	if got := discardedLaunches(doc); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// A case of which no launch counts is reported as inconclusive by all reports, with its cause, also where nothing
// is asserted of it.
func TestReportsOfCasesOfOnlyVoidLaunches(t *testing.T) {
	void := &results.Launch{
		Status: results.OK, Verified: true, Discarded: "node a was busy",
		Metrics: results.ValuesOf(map[string]float64{"bandwidth": 1}),
	}
	doc := &results.Document{Schema: results.Schema, Session: results.Session{ID: "s"}, Cases: []*results.Case{
		{Key: "a", Run: "a", Workload: "transfer", Status: results.OK, Launches: []*results.Launch{void}},
	}}
	gate.Judge(doc)
	told := "host too busy: 1 of 1 launch discarded, no case has a usable launch (last: node a was busy); wait until the " +
		"host is idle, or count disturbed launches with --disturbed keep"
	for format, wants := range map[string][]string{
		"table": {"? inconclusive (discarded)", "? inconclusive  a\n    " + told,
			"? inconclusive: no assertions; cases: 1 inconclusive; exit code 3"},
		"junit":    {`<error type="weir.inconclusive" message="host too busy: 1 of 1 launch discarded`, told},
		"json":     {`"status": "inconclusive"`, `"inconclusive": 1`},
		"markdown": {told},
		"github":   {told},
		"html":     {told, "Inconclusive (1)"},
	} {
		var b bytes.Buffer
		r, _ := Lookup(format)
		if err := r.Write(&b, doc); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s does not say %q:\n%s", format, want, b.String())
			}
		}
		if format == "table" && strings.Count(b.String(), void.Discarded) != 1 {
			t.Errorf("the cause is not told once:\n%s", b.String())
		}
	}
}

// A quantile that has no end has none in a discarded launch either.
func TestUnboundedValuesOfDiscardedLaunches(t *testing.T) {
	void := &results.Launch{
		Status: results.OK, Verified: true, Discarded: "node a was busy",
		Metrics: results.ValuesOf(map[string]float64{"latency.p50": 0.25, "latency.p99": results.Unbounded}),
	}
	doc := &results.Document{
		Schema: results.Schema, Session: results.Session{ID: "s"},
		Metrics: []results.MetricTable{{Workload: "w", Run: "a", Definitions: []results.Metric{
			{Name: "latency.p50", Unit: "s", Better: "lower"}, {Name: "latency.p99", Unit: "s", Better: "lower"},
		}}},
		Cases: []*results.Case{
			{Key: "a", Run: "a", Workload: "w", Status: results.OK, Launches: []*results.Launch{void}},
		},
	}
	gate.Judge(doc)
	var b bytes.Buffer
	r, _ := Lookup("table")
	if err := r.Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "(unbounded)") || strings.Contains(b.String(), "e+") {
		t.Errorf("%s", b.String())
	}
}

// Options that all cases of a run have stand once; what differs stands with its cases. The content of a file
// is shown by its digest.
func TestOptionsOfARunAreToldOnce(t *testing.T) {
	of := func(key string, requests, rate int64) *results.Case {
		return &results.Case{Key: key, Run: "r", Workload: "serving", Options: map[string]any{
			"model": "m", "requests": requests, "trace_rows": "W3sidCI6MH1d", "url": "http://h:1", "concurrency": rate,
		}}
	}
	lines := conditionLines([]*results.Case{of("a", 120, 3), of("b", 120, 5), of("c", 300, 5)})
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "options: ") })
	if i < 0 {
		t.Fatal(lines)
	}
	for _, word := range []string{"model=m", "url=http://h:1", "trace_rows=sha256:", "requests=300"} {
		if strings.Count(lines[i], word) != 1 {
			t.Errorf("%q stands not once in %s", word, lines[i])
		}
	}
	if strings.Contains(lines[i], "W3sidCI6MH1d") {
		t.Error(lines[i])
	}
}

// An option that varies between cases stands with each of them, also where it has the default.
func TestVaryingOptionsAreToldWithDefaults(t *testing.T) {
	var cases []*results.Case
	for _, length := range []int64{128, 512} {
		for _, at := range []int64{1, 4} {
			options := map[string]any{"model": "m", "input": "{}", "concurrency": at, "cancel": "", "turns": int64(1)}
			if length == 128 { // 512 is the default
				options["input"], options["turns"] = `{"tokens":"fixed:128"}`, int64(2)
			}
			cases = append(cases, &results.Case{
				Key: string(rune('a' + len(cases))), Run: "r", Workload: "serving", Options: options,
				AxisOrder: []string{"len", "concurrency"}, Axes: map[string]any{"len": length, "concurrency": at},
			})
		}
	}
	const want = "options: model=m; input={tokens: fixed:128} turns=2 (len=128); input=default turns=1 (len=512)"
	if lines := conditionLines(cases); !slices.Contains(lines, want) {
		t.Errorf("%q lack\n%s", lines, want)
	}
}

package reporters

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
)

// documents are hand-made ones, judged by the gate: all pass; failures with
// warnings and an inconclusive gate; an aborted session with errors and cases
// that were left out; names that no format likes; assertions over several cases
// in a session that was resumed, simulated in part, and has a baseline; a launch
// that was made again because a command before it had failed; nothing that ran;
// traffic matrices; a sequence of them, rehearsed.
var documents = []string{"passed", "failed", "aborted", "odd", "several", "retried", "empty", "traffic", "sequence"}

func read(t *testing.T, name string) *results.Document {
	t.Helper()
	doc, err := results.Read(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestGoldenReports(t *testing.T) {
	extension := map[string]string{
		"aiperf": "aiperf", "comment": "comment.md", "csv": "csv", "csv-launches": "launches.csv",
		"ct-perftest": "ct-perftest",
		"github":      "github", "gitlab": "gitlab", "json": "json", "junit": "xml", "llm-d": "llm-d", "markdown": "md",
		"nixl-ep": "nixl-ep", "nixlbench": "nixlbench", "openmetrics": "prom", "table": "txt",
	}
	for _, name := range documents {
		for _, format := range Formats() {
			if format == "html" { // a page is read by a parser: see html_test.go
				continue
			}
			r, ok := Lookup(format)
			if !ok {
				t.Fatalf("format %s is listed but not found", format)
			}
			var b bytes.Buffer
			if err := r.Write(&b, read(t, name)); err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if extension[format] == "" {
				t.Fatalf("no name for the file of format %s", format)
			}
			path := filepath.Join("testdata", name+"."+extension[format])
			if format == "json" { // the document itself comes back, byte for byte
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(want, b.Bytes()) {
					t.Errorf("%s is not written as it was read", path)
				}
				continue
			}
			golden.Equal(t, path, b.Bytes())
		}
	}
}

func TestDocumentsFollowTheSchema(t *testing.T) {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(results.JSONSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("results.json", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("results.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range documents {
		var b bytes.Buffer
		if err := JSON(&b, read(t, name)); err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(&b)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No report carries a control character or a change of direction to its reader.
func TestReportsCarryNoControlCharacters(t *testing.T) {
	for _, format := range []string{
		"comment", "csv", "github", "gitlab", "html", "junit", "markdown", "nixl-ep", "nixlbench", "table",
	} {
		r, _ := Lookup(format)
		for _, name := range documents {
			var b bytes.Buffer
			if err := r.Write(&b, read(t, name)); err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(b.String(), "\n") {
				if clean := plain(line); clean != line {
					t.Errorf("%s report of %s: %q", format, name, line)
				}
			}
		}
	}
}

func TestEveryFormatIsDescribed(t *testing.T) {
	for _, format := range Formats() {
		if About(format) == "" {
			t.Errorf("nothing is said about format %s", format)
		}
	}
}

// Nothing that was planned is missing from any report.
func TestEveryCaseIsInEveryReport(t *testing.T) {
	doc := read(t, "aborted")
	for _, format := range []string{"csv", "json", "junit", "openmetrics"} {
		r, _ := Lookup(format)
		var b bytes.Buffer
		if err := r.Write(&b, doc); err != nil {
			t.Fatal(err)
		}
		for _, c := range doc.Cases {
			if !strings.Contains(b.String(), c.Key) {
				t.Errorf("%s does not name %s", format, c.Key)
			}
		}
	}
	rows := 0
	for _, g := range grids(doc) {
		rows += len(g.cases)
	}
	if rows != len(doc.Cases) {
		t.Errorf("%d rows for %d cases", rows, len(doc.Cases))
	}
}

func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	for _, format := range Formats() {
		r, _ := Lookup(format)
		if r.DefaultFile == Stdout {
			continue
		}
		if err := r.WriteFile(filepath.Join(dir, r.DefaultFile), read(t, "failed")); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{
		"aiperf.json", "comment.md", "ct-perftest.txt", "gl-code-quality.json", "junit.xml", "launches.csv",
		"llm-d.json",
		"metrics.prom", "nixl-ep.txt", "nixlbench.txt", "report.html", "report.md", "report.txt",
		"results.csv", "results.json",
	}
	if !slices.Equal(names, want) {
		t.Errorf("files %v, want %v", names, want)
	}
	r, _ := Lookup("json")
	if err := r.WriteFile(filepath.Join(dir, "gone", "x"), read(t, "failed")); err == nil {
		t.Error("wrote below a folder that does not exist")
	}
	if _, ok := Lookup("pdf"); ok {
		t.Error("found a format that does not exist")
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                     "plain",
		"a\nb\tc\r":                 "a b c ",
		"\x1b[31;1mred\x1b[0m":      "red",
		"\x1b]0;title\x07name":      "name",
		"\x1b]8;;http://x\x1b\\go":  "go",
		"nul\x00 bell\x07 c1\u009b": "nul bell c1",
		"\u202eturn\u202c":          "turn",
		"bad \xff byte":             "bad \uFFFD byte",
		"日本語 µ –":                   "日本語 µ –",
	} {
		if got := plain(in); got != want {
			t.Errorf("plain(%q) = %q, want %q", in, got, want)
		}
	}
}

// The least and the greatest time are those of all launches, not between them.
func TestExtremesOfSeveralLaunches(t *testing.T) {
	c := &results.Case{Key: "s", Run: "s", Workload: "serving", Status: results.OK}
	for _, v := range []float64{1, 2, 4} {
		of := map[string]float64{"ttft.avg": v / 2, "ttft.max": v, "ttft.min": v / 4}
		c.Launches = append(c.Launches, &results.Launch{Status: results.OK, Metrics: results.ValuesOf(of)})
	}
	of := func(v float64) results.MetricEstimate {
		return results.MetricEstimate{Value: v, Median: v, Unit: "s", N: 3}
	}
	c.Metrics = results.NamedOf(map[string]results.MetricEstimate{
		"ttft.avg": of(1), "ttft.max": of(2), "ttft.min": of(0.5),
	})
	doc := &results.Document{Session: results.Session{Status: results.Passed}, Cases: []*results.Case{c}}
	for format, wants := range map[string][]string{
		"aiperf": {`"max":4000`, `"min":250`, `"avg":1000`}, "llm-d": {`"max":4`, `"min":0.25`, `"mean":1`},
	} {
		got := strings.Join(strings.Fields(written(t, format, doc)), "")
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %s in %s", format, want, got)
			}
		}
	}
}

// A load that failed is no complete one in the names of aiperf.
func TestAIPerfOfALoadThatFailed(t *testing.T) {
	doc := &results.Document{Session: results.Session{Status: results.Error}, Cases: []*results.Case{{
		Key: "s", Run: "s", Workload: "serving", Status: results.Error, Launches: []*results.Launch{{
			Status: results.Error, Failure: &results.Failure{Rank: 0, Cause: "the server ended"},
			Errors: []results.Cause{{Text: "503", Count: 2}},
		}},
	}}}
	got := strings.Join(strings.Fields(written(t, "aiperf", doc)), "")
	for _, want := range []string{`"is_complete":false`, `"message":"503"`, `"message":"theserverended"`, `"count":2`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

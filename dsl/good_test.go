package dsl

import (
	"bytes"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// testEnv is the environment of the tests' scenarios.
func testEnv(name string) (string, bool) {
	v, ok := map[string]string{"HOME": "/home/ada", "USER": "ada"}[name]
	return v, ok
}

func load(t *testing.T, path string, vars map[string]string) *Scenario {
	t.Helper()
	s, src, diags := LoadFile(path, Options{Env: testEnv, Vars: vars})
	if diags.HasErrors() {
		var b bytes.Buffer
		if err := WriteDiagnostics(&b, "text", diags, src); err != nil {
			t.Fatal(err)
		}
		t.Fatalf("%s does not load:\n%s", path, &b)
	}
	return s
}

// caseView has all settings of one point of a run.
type caseView struct {
	Point    string
	Resolved Resolved
	Asserts  []assertion.Assertion
}

type runView struct {
	Run   *Run
	When  string
	Cases []caseView
}

// points walks all points of a run, the last axis fastest.
func points(r *Run) [][]AxisValue {
	all := [][]AxisValue{{}}
	for _, a := range r.Axes {
		var next [][]AxisValue
		for _, p := range all {
			for _, v := range a.Values {
				next = append(next, append(append([]AxisValue{}, p...), v))
			}
		}
		all = next
	}
	return all
}

func viewOf(t *testing.T, r *Run) runView {
	t.Helper()
	v := runView{Run: r}
	if r.When != nil {
		v.When = strings.ReplaceAll(r.When.Text(), `"`, `'`)
	}
	for _, p := range points(r) {
		resolved, diags := r.At(p)
		if diags.HasErrors() {
			t.Fatalf("run %s at %s: %v", r.Name, pointText(r, p), diags)
		}
		c := caseView{Point: pointText(r, p), Resolved: resolved}
		scope := Scope{Options: resolved.Options, Axes: map[string]any{}}
		for i, a := range r.Axes {
			scope.Axes[a.Name] = p[i].Value
		}
		for _, a := range r.Asserts {
			applies, diags := a.Matches(scope)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if !applies {
				continue
			}
			lowered, diags := a.Lower(scope)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			lowered.File, lowered.Line = "", 0
			c.Asserts = append(c.Asserts, lowered)
		}
		v.Cases = append(v.Cases, c)
	}
	return v
}

func TestBothSyntaxesGiveTheSameScenario(t *testing.T) {
	files, err := filepath.Glob("testdata/good/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	ignore := cmp.Options{
		cmpopts.IgnoreUnexported(Run{}, Place{}, Assert{}, Command{}),
		cmpopts.IgnoreTypes(hcl.Range{}, &Condition{}),
		cmpopts.IgnoreFields(Scenario{}, "File", "Runs"),
		cmpopts.IgnoreFields(Run{}, "WhenWritten"),
		cmpopts.IgnoreFields(workload.Kind{}, "Check", "Behaviour", "Measures", "Services"),
		cmpopts.IgnoreFields(option.Option{}, "Read"),
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			y := load(t, file, nil)
			h := load(t, strings.TrimSuffix(file, ".yaml")+".hcl", nil)
			if d := cmp.Diff(y, h, ignore); d != "" {
				t.Error("-yaml +hcl", d)
			}
			if len(y.Runs) != len(h.Runs) {
				t.Fatalf("%d runs in YAML, %d in HCL", len(y.Runs), len(h.Runs))
			}
			for i := range y.Runs {
				if d := cmp.Diff(viewOf(t, y.Runs[i]), viewOf(t, h.Runs[i]), ignore); d != "" {
					t.Errorf("run %s, -yaml +hcl %s", y.Runs[i].Name, d)
				}
			}
		})
	}
}

func TestRangesOfNamesAreExact(t *testing.T) {
	for _, file := range []string{"testdata/good/libfabric.yaml", "testdata/good/libfabric.hcl"} {
		s, src, _ := LoadFile(file, Options{Env: testEnv})
		text := func(r hcl.Range) string { return strings.Trim(string(r.SliceBytes(src[file].Bytes)), `"`) }
		r := s.Runs[0]
		for got, want := range map[string]string{
			text(r.Range): "bandwidth", text(r.Axes[0].Range): "block_size", text(r.Axes[0].Values[2].Range): "16MiB",
			text(r.Asserts[1].Range):   "latency.avg <= 60us where block_size == 4KiB",
			text(s.Checks[0].Range):    "EFA provider is there",
			text(s.Variables[0].Range): "peak",
		} {
			if got != want {
				t.Errorf("%s: a range covers %q, want %q", file, got, want)
			}
		}
	}
}

func TestVariablesFromOutside(t *testing.T) {
	s := load(t, "testdata/good/libfabric.yaml", map[string]string{"peak": " 100GB/s", "p2p": "false"})
	r := s.Runs[0]
	resolved, _ := r.At([]AxisValue{r.Axes[0].Values[3]})
	if got := resolved.Env["FI_HMEM_DISABLE_P2P"]; got != "1" {
		t.Errorf("FI_HMEM_DISABLE_P2P = %q", got)
	}
	a, _ := r.Asserts[0].Lower(Scope{Options: resolved.Options})
	if a.Lowered != "bandwidth in [90, 110] GB/s" {
		t.Error(a.Lowered)
	}
	if s.Variables[0].Text != "100GB/s" {
		t.Errorf("variable text %q", s.Variables[0].Text)
	}
	s = load(t, "testdata/good/every_key.yaml", map[string]string{"sizes": "[1KiB, 2KiB,3KiB]"})
	if n := len(s.Runs[0].Axes[0].Values); n != 3 {
		t.Errorf("the list variable gave %d values", n)
	}
}

func TestFacts(t *testing.T) {
	s := load(t, "testdata/good/every_key.yaml", nil)
	first, second := s.Runs[0], s.Runs[1]
	v := viewOf(t, first)
	if len(v.Cases) != 2*3*2*2 {
		t.Errorf("%d cases", len(v.Cases))
	}
	c := v.Cases[0]
	want := map[string]string{
		"UCX_TLS": "it's", "UCX_LOG_LEVEL": "warn", "OCTAL": "0777", "EMPTY": "", "LOUD": "NO-stream", "THREADS": "3",
		"UCX_RNDV": "auto",
	}
	if d := cmp.Diff(want, c.Resolved.Env); d != "" {
		t.Error(d)
	}
	for name, want := range map[string]any{
		"batch": int64(256), "warmup": int64(0), "iterations": int64(1000), "mode": "stream",
	} {
		if got := c.Resolved.Options[name]; got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if !reflect.DeepEqual(s.Cluster, Cluster{Nodes: 1, Counted: true}) || s.Checks[0].Command[0] != "true" ||
		s.Checks[1].Command[2] != "/home/ada" {
		t.Errorf("%+v %+v", s.Cluster, s.Checks)
	}
	if first.Timeout.Seconds() != 90 || second.Launches[0] != 4 || second.Needs[0].Run != "first" {
		t.Error(first.Timeout, second.Launches, second.Needs)
	}
	if got := viewOf(t, second).Cases[0].Resolved.Options["block_size"]; got != quantity.Size(1000) {
		t.Errorf("block_size 1_000 is %v", got)
	}
	if ok, err := first.When.Eval(Scope{Options: c.Resolved.Options, Host: &Host{Nodes: 1}}); !ok || err != nil ||
		!first.When.UsesHost() {
		t.Error(ok, err)
	}
}

func TestRangesGiveTheirValues(t *testing.T) {
	for text, want := range map[string]string{
		"4KiB..64KiB x2":     "4KiB 8KiB 16KiB 32KiB 64KiB",
		"4KiB..60KiB x2":     "4KiB 8KiB 16KiB 32KiB",
		"1..8 +1":            "1 2 3 4 5 6 7 8",
		"1..8+3":             "1 4 7",
		"1MB..3MB + 1MB":     "1MB 2MB 3MB",
		"0.1..1 +0.1":        "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1",
		"5..5 x2":            "5",
		"1us..100us x10":     "1us 10us 100us",
		"1e+1..1e+3 x10":     "10 100 1000",
		"1KiB .. 4KiB × 2":   "1KiB 2KiB 4KiB",
		"0..10 +5":           "0 5 10",
		"-3..-1 +1":          "-3 -2 -1",
		"-0.3..0 +0.1":       "-0.3 -0.2 -0.1 0",
		"-0.3..-0.1 +0.1":    "-0.3 -0.2 -0.1",
		"-1..1 +1":           "-1 0 1",
		"0.1ns..1000s x1e13": "0.1ns 1000000000000ns",
		"8MiB..1MiB x2":      "",
		"1..8":               "",
		"1..8 x1":            "",
		"1..8 x0.5":          "",
		"0..8 x2":            "",
		"1..8 +0":            "",
		"1..8 +-1":           "",
		"1KiB..8 x2":         "",
		"1KiB..8KiB +1":      "",
		"1KiB..8KiB x1KiB":   "",
		"1..100000 +1":       "",
		"1..1e300 +1e-300":   "",
		"1..2 x1.0000000001": "",
		"a..b x2":            "",
		".. x2":              "",
	} {
		values, err := expandRange(text)
		if got := strings.Join(values, " "); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

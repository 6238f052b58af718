package dsl_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
)

func TestARangeThatEndsEarlyIsWarnedOf(t *testing.T) {
	for axis, last := range map[string]string{
		"block_size: 4KiB..100KiB x3":     "36KiB",
		"block_size: 4KiB..100KiB +30KiB": "94KiB",
		"in_flight: 1..10 x2":             "8",
		"block_size: 4KiB..64MiB x2":      "",
		"in_flight: 1..9 +4":              "",
		"block_size: 4KiB..4KiB x2":       "",
	} {
		src := "scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {fabric: sim, block_size: 1MiB}\n    sweep:\n      " +
			axis + "\n"
		if strings.HasPrefix(axis, "block_size") {
			src = strings.Replace(src, ", block_size: 1MiB", "", 1)
		}
		s, _, diags := dsl.Load("s.yaml", []byte(src), dsl.Options{})
		if s == nil || diags.HasErrors() || len(diags) != 0 == (last == "") {
			t.Errorf("%s: %v", axis, diags)
			continue
		}
		if last == "" {
			continue
		}
		d := diags[0]
		if d.Severity != hcl.DiagWarning || d.Subject.Start.Line != 7 ||
			!strings.Contains(d.Detail, "its last value is "+last+".") {
			t.Errorf("%s: %v at %v", axis, d, d.Subject)
		}
	}
}

func TestAnAbsentBaselineIsWarnedOf(t *testing.T) {
	dir := t.TempDir()
	there := filepath.Join(dir, "there.json")
	if err := os.WriteFile(there, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for baseline, warns := range map[string]bool{
		"baseline: " + filepath.Join(dir, "gone.json"):                             true,
		"baseline: {file: " + filepath.Join(dir, "gone.json") + "}":                true,
		"baseline: {file: " + filepath.Join(dir, "gone.json") + ", missing: skip}": false,
		"baseline: " + there: false,
		"":                   false,
	} {
		src := "scenario: s\n" + baseline + "\nruns:\n  a:\n    workload: transfer\n    options: {fabric: sim, block_size: 1MiB}\n"
		s, _, diags := dsl.Load("s.yaml", []byte(src), dsl.Options{})
		if s == nil || len(diags) > 0 {
			t.Fatalf("%s: %v", baseline, diags)
		}
		d := dsl.AbsentBaseline(s)
		if (d != nil) != warns {
			t.Errorf("%s: %v", baseline, d)
		}
		if d != nil && (d.Severity != hcl.DiagWarning || d.Subject.Start.Line != 2 ||
			!strings.Contains(d.Detail, "gone.json")) {
			t.Errorf("%s: %v at %v", baseline, d, d.Subject)
		}
	}
}

func TestAPercentageThatCouldBeAShareIsWarnedOf(t *testing.T) {
	for bound, warns := range map[string]bool{"0.9": true, "90": false, "0.9%": false} {
		src := "scenario: s\nruns:\n  a:\n    workload: command\n    options: {roles: {a: {command: [a]}}, parse: {of: a, lines: '(?<pc>[0-9.]+) %'}}\n" +
			"    metrics: {pc: {unit: \"%\", better: higher}}\n    assert: [pc >= " + bound + "]\n"
		s, _, diags := dsl.Load("s.yaml", []byte(src), dsl.Options{})
		if s == nil || diags.HasErrors() || len(diags) != 0 != warns {
			t.Errorf("%s: %v", bound, diags)
			continue
		}
		if warns && (diags[0].Severity != hcl.DiagWarning || diags[0].Subject.Start.Line != 7 ||
			!strings.Contains(diags[0].Detail, "0.9 without a unit means 0.9%, as pc is in percent.")) {
			t.Errorf("%v at %v", diags[0], diags[0].Subject)
		}
	}
}

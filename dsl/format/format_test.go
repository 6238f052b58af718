package format_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/dsl"
	"weir/dsl/format"
	"weir/planner"
	"weir/test/golden"
)

func testEnv(name string) (string, bool) {
	v, ok := map[string]string{"HOME": "/home/ada", "USER": "ada"}[name]
	return v, ok
}

// shipped are all files of the tree that are good scenarios.
func shipped(tb testing.TB) []string {
	tb.Helper()
	var all []string
	for _, pattern := range []string{"../../examples/*", "../../scenarios/*", "../testdata/good/*", "testdata/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range files {
			if format.SyntaxOf(f) != "" {
				all = append(all, f)
			}
		}
	}
	if len(all) < 12 {
		tb.Fatalf("only %d scenarios found", len(all))
	}
	return all
}

// digest plans a file; "" if it does not load or plan.
func digest(path string, src []byte) string {
	s, _, diags := dsl.Load(path, src, dsl.Options{Env: testEnv})
	if diags.HasErrors() {
		return ""
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() {
		return ""
	}
	return p.Digest
}

func read(tb testing.TB, path string) []byte {
	tb.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func TestFormattingKeepsThePlanAndIsDoneOnce(t *testing.T) {
	for _, file := range shipped(t) {
		src := read(t, file)
		out, diags := format.Format(file, src)
		if diags.HasErrors() {
			t.Errorf("%s: %v", file, diags)
			continue
		}
		if before, after := digest(file, src), digest(file, out); before != after {
			t.Errorf("%s: the plan's digest was %s and is %s", file, before, after)
		}
		if again, diags := format.Format(file, out); diags.HasErrors() || string(again) != string(out) {
			t.Errorf("%s: formatting it again changes it: %v", file, diags)
		}
	}
}

var other = map[string]string{format.YAML: format.HCL, format.HCL: format.YAML}

func TestConvertingThereAndBackKeepsThePlan(t *testing.T) {
	for _, file := range shipped(t) {
		src := read(t, file)
		from := format.SyntaxOf(file)
		there, diags := format.Convert(file, src, other[from])
		if diags.HasErrors() {
			t.Errorf("%s: %v", file, diags)
			continue
		}
		// beside what it is of, for the files that it names
		name := filepath.Join(filepath.Dir(file), "converted."+other[from])
		back, diags := format.Convert(name, there, from)
		if diags.HasErrors() {
			t.Errorf("%s: back again: %v\n%s", file, diags, there)
			continue
		}
		want := digest(file, src)
		if got := digest(name, there); got != want {
			t.Errorf("%s: the plan's digest was %s and is %s after\n%s", file, want, got, there)
		}
		if got := digest(file, back); got != want {
			t.Errorf("%s: the plan's digest was %s and is %s there and back", file, want, got)
		}
		if again, diags := format.Format(name, there); diags.HasErrors() || string(again) != string(there) {
			t.Errorf("%s: what is converted is not formatted: %v\n%s", file, diags, there)
		}
	}
}

// A golden file FILE.want of testdata is the layout of FILE, FILE.to.SYNTAX its
// conversion.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range files {
		from := format.SyntaxOf(file)
		if from == "" || strings.Contains(file, ".to.") {
			continue
		}
		checked++
		src := read(t, file)
		out, diags := format.Format(file, src)
		if diags.HasErrors() {
			t.Fatalf("%s: %v", file, diags)
		}
		golden.Equal(t, file+".want", out)
		out, diags = format.Convert(file, src, other[from])
		if diags.HasErrors() {
			t.Fatalf("%s: %v", file, diags)
		}
		golden.Equal(t, file+".to", out)
	}
	if checked < 2 {
		t.Errorf("%d files", checked)
	}
}

func TestLinesEndAlike(t *testing.T) {
	out, diags := format.Format("x.yaml", []byte("\ufeffscenario: x\r\n\r\n\r\nruns:\r\n    a: {workload: transfer}  # c\r\n\r\n"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if want := "scenario: x\n\nruns:\n  a: {workload: transfer}  # c\n"; string(out) != want {
		t.Errorf("%q", out)
	}
	out, diags = format.Format("x.hcl", []byte("\ufeffscenario \"x\" {\r\n\r\n\r\n\ta=1 # c\r\n\r\n\r\n  b = 2\r\n\r\n}\r\n\r\n"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if want := "scenario \"x\" {\n  a = 1 # c\n\n  b = 2\n}\n"; string(out) != want {
		t.Errorf("%q", out)
	}
}

func TestBrokenFilesAreRefused(t *testing.T) {
	for name, src := range map[string]string{
		"unclosed.yaml": "scenario: x\nruns: [",
		"template.yaml": "scenario: x\ndescription: ${1 +}",
		"tag.yaml":      "scenario: !x x",
		"two.yaml":      "scenario: x\n---\nscenario: y\n",
		"utf16.yaml":    "\xff\xfes",
		"unclosed.hcl":  `scenario "x" {`,
		"unknown.toml":  "scenario = 'x'",
		"large.yaml":    "scenario: x\ndescription: " + strings.Repeat("x", 300<<10),
	} {
		out, diags := format.Format(name, []byte(src))
		if !diags.HasErrors() || out != nil {
			t.Errorf("%s is formatted as %q", name, out)
		}
	}
}

// What one syntax can say and the other cannot is an error with its place.
func TestWhatCannotBeConverted(t *testing.T) {
	for src, want := range map[string]string{
		`scenario "x" { run "a" {} }` + "\n" + `outside = 1`:       "Outside of the scenario",
		`scenario "x" {}` + "\n" + `scenario "y" {}`:               "Second scenario",
		`scenario "x" { run "a" { env { A = 1 } env { B = 1 } } }`: "Given twice",
		`scenario "x" { run "a" {} run "a" {} }`:                   "Given twice",
		`scenario "x" { lump "a" {} }`:                             "Unknown block",
		`scenario "x" { runs = {} }`:                               "Not an argument",
		`scenario "x" { run { } }`:                                 "Missing name",
	} {
		src = strings.NewReplacer("{ ", "{\n", " }", "\n}\n", "} ", "}\n").Replace(src)
		_, diags := format.Convert("x.hcl", []byte(src), format.YAML)
		if !diags.HasErrors() || diags[0].Summary != want || diags[0].Subject == nil {
			t.Errorf("%s\n%v, want %s", src, diags, want)
		}
	}
	for src, want := range map[string]string{
		"scenario: x\ncluster: {env.X: 1}\n":            "Cannot be converted",
		"scenario: x\nchecks: [{command: [a]}]\n":       "Missing name",
		"scenario: x\nruns: text\n":                     "Not a mapping",
		"scenario: x\nruns: {a: text}\n":                "Not a mapping",
		"scenario: x\nchecks: [{name: a}, {name: a}]\n": "Given twice",
	} {
		_, diags := format.Convert("x.yaml", []byte(src), format.HCL)
		if !diags.HasErrors() || diags[0].Summary != want || diags[0].Subject == nil {
			t.Errorf("%s\n%v, want %s", src, diags, want)
		}
	}
	if _, diags := format.Convert("x.hcl", []byte(`scenario "x" {}`), format.HCL); !diags.HasErrors() {
		t.Error("HCL was converted to HCL")
	}
}

package format_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/test/golden"
)

func testEnv(name string) (string, bool) {
	v, ok := map[string]string{"HOME": "/home/ada", "USER": "ada"}[name]
	return v, ok
}

// shipped are all valid scenario files of the repository.
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

var other = map[string]string{format.YAML: format.HCL, format.HCL: format.YAML}

// hold checks that formatting keeps the meaning and is idempotent, and that conversion in both
// directions keeps the meaning. It returns the converted file, or why there is none.
func hold(t *testing.T, path string, src []byte) ([]byte, hcl.Diagnostics) {
	t.Helper()
	want := digest(path, src)
	same := func(path string, src []byte) {
		if got := digest(path, src); want != "" && got != want {
			t.Fatalf("the plan was %s and is %s after\n%s", want, got, src)
		}
	}
	out, diags := format.Format(path, src)
	if diags.HasErrors() {
		return nil, diags
	}
	same(path, out)
	if again, diags := format.Format(path, out); diags.HasErrors() || string(again) != string(out) {
		t.Fatalf("formatting again gives, %v\n%s\nafter\n%s", diags, again, out)
	}
	from := format.SyntaxOf(path)
	there, diags := format.Convert(path, src, other[from])
	if diags.HasErrors() {
		return nil, diags
	}
	converted := filepath.Join(filepath.Dir(path), "converted."+other[from]) // beside the files that it names
	same(converted, there)
	back, diags := format.Convert(converted, there, from)
	if diags.HasErrors() {
		t.Fatalf("cannot be converted back: %v\n%s", diags, there)
	}
	same(path, back)
	return there, nil
}

func TestShippedScenariosKeepTheirPlan(t *testing.T) {
	for _, file := range shipped(t) {
		there, diags := hold(t, file, read(t, file))
		if diags.HasErrors() {
			t.Errorf("%s: %v", file, diags)
			continue
		}
		again, diags := format.Format("converted."+other[format.SyntaxOf(file)], there)
		if diags.HasErrors() || string(again) != string(there) {
			t.Errorf("%s: what is converted is not formatted: %v\n%s", file, diags, there)
		}
	}
}

// FILE.want in testdata is the formatted FILE, FILE.to.SYNTAX its conversion.
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
	out, diags := format.Format("x.yaml",
		[]byte("\ufeffscenario: x\r\n\r\n\r\nruns:\r\n    a: {workload: transfer}  # c\r\n\r\n"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if want := "scenario: x\n\nruns:\n  a: {workload: transfer}  # c\n"; string(out) != want {
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

// A construct that the other syntax lacks is an error with its place.
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
		"scenario: x\nsetup: [[&t " + strings.Repeat("x", 64<<10) + strings.Repeat(", *t", 99) + "]]\n": "Too large",
	} {
		_, diags := format.Convert("x.yaml", []byte(src), format.HCL)
		if !diags.HasErrors() || diags[0].Summary != want || diags[0].Subject == nil {
			t.Errorf("%.99s\n%v, want %s", src, diags, want)
		}
	}
	if _, diags := format.Convert("x.hcl", []byte(`scenario "x" {}`), format.HCL); !diags.HasErrors() {
		t.Error("HCL was converted to HCL")
	}
}

// What weir shows as an example is in weir's own layout.
func TestExamplesAreFormatted(t *testing.T) {
	n := 0
	for _, pattern := range []string{"../../examples/*.yaml", "../../examples/*.hcl",
		"../../cmd/weir/starters/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			src := read(t, file)
			if out, diags := format.Format(file, src); diags.HasErrors() || string(out) != string(src) {
				t.Errorf("%s is not formatted: weir fmt %[1]s", file)
			}
			n++
		}
	}
	if n < 12 {
		t.Error(n)
	}
}

package dsl

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fuzzLoad checks invariants for any bytes: no panic, every diagnostic is inside of the file and
// printable, and a loaded scenario can be evaluated.
func fuzzLoad(f *testing.F, extension string) {
	files, err := filepath.Glob("testdata/*/*" + extension)
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	for _, b := range brokenInputs {
		piece := b.yaml
		if extension == ".hcl" {
			piece = b.hcl
		}
		src, _ := framed(b.place, extension, piece)
		f.Add([]byte(src))
	}
	for _, pieces := range []map[string]sample{samples, soundSequences} {
		for _, s := range pieces {
			piece := s.yaml
			if extension == ".hcl" {
				piece = s.hcl
			}
			src, _ := framed(s.place, extension, piece)
			f.Add([]byte(src))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		s, sources, diags := Load("fuzz"+extension, src, Options{Env: testEnv, Read: memory(brokenNeighbours)})
		if s == nil && !diags.HasErrors() {
			t.Fatal("neither a scenario nor an error")
		}
		checkPlaces(t, sources, diags)
		for _, format := range []string{"text", "json", "github"} {
			var b bytes.Buffer
			if err := WriteDiagnostics(&b, format, diags, sources); err != nil {
				t.Fatal(err)
			}
		}
		if s == nil {
			return
		}
		for _, r := range s.Runs {
			first := make([]AxisValue, len(r.Axes))
			for i, a := range r.Axes {
				first[i] = a.Values[0]
			}
			if _, diags := r.At(first); diags.HasErrors() {
				t.Fatalf("it loads, but run %s does not evaluate: %v", r.Name, diags)
			}
		}
	})
}

func FuzzYAML(f *testing.F) { fuzzLoad(f, ".yaml") }

func FuzzHCL(f *testing.F) { fuzzLoad(f, ".hcl") }

func TestHostileInputEndsSoon(t *testing.T) {
	const size = maxSource - 100
	for name, src := range map[string]string{
		"flow.yaml":     "scenario: x\nruns: " + strings.Repeat("[", size),
		"maps.yaml":     "scenario: x\nruns: " + strings.Repeat("{a: ", size/4),
		"line.yaml":     "scenario: x\nruns: [" + strings.Repeat("a,", 40_000) + "]",
		"aliases.yaml":  "scenario: x\na: &a [b]\nruns: [" + strings.Repeat("*a,", 60_000) + "]",
		"template.yaml": "scenario: x\ndescription: '${" + strings.Repeat("(", size),
		"unary.yaml":    "scenario: x\ndescription: '${" + strings.Repeat("!", size) + "true}'",
		"masked.yaml":   "scenario: x\ndescription: " + strings.Repeat("${", size/2),
		"brackets.hcl":  strings.Repeat("(", size),
		"unary.hcl":     `scenario "x" { description = ` + strings.Repeat("!", size),
		"minus.hcl":     `scenario "x" { description = ` + strings.Repeat("-\n", size/2),
		"ternary.hcl":   `scenario "x" { description = ` + strings.Repeat("a ? b : ", size/8),
		"templates.hcl": `scenario "x" { description = ` + strings.Repeat(`"${`, size/3),
		"blocks.hcl":    strings.Repeat("a {\n", size/4),
	} {
		s, _, diags := Load(name, []byte(src), Options{Env: testEnv})
		if s != nil || !diags.HasErrors() {
			t.Errorf("%s loads", name)
		}
	}
}

package dsl

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/matrix"
)

// settingText returns the value of an option of a run at its n-th point.
func settingText(t *testing.T, r *Run, name string, n int) string {
	t.Helper()
	resolved, diags := r.At(points(r)[n])
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if v, ok := resolved.Options[name]; ok {
		return fmt.Sprint(v)
	}
	return "none"
}

func TestMatricesArrive(t *testing.T) {
	for _, file := range []string{"testdata/good/traffic.yaml", "testdata/good/traffic.hcl"} {
		s := load(t, file, nil)
		byName := map[string]*Run{}
		for _, r := range s.Runs {
			byName[r.Name] = r
		}
		for _, c := range []struct {
			run   string
			point int
			want  map[string]string
		}{
			{"written", 0, map[string]string{
				"matrix": "3: 0>1=1536,2=67108864 1>0=4194304,2=7 2>0=65536", "ranks": "3", "generate": "none",
				"matrix_file": "none", "iterations": "5", "shards": "2", "op": "write",
			}},
			{"inherited", 0, map[string]string{
				"matrix": "3: 0>1=4096 1>2=4096 2>0=4096", "ranks": "3", "op": "read", "shards": "1",
			}},
			{"text", 0, map[string]string{"matrix": "2: 0>1=1024 1>0=2048", "ranks": "2"}},
			{"generated", 1, map[string]string{
				"matrix": "none", "generate": "zipf 64KiB exponent=1 seed=1", "ranks": "4",
			}},
			{"swept", 1, map[string]string{"matrix": "none", "generate": "incast 1MiB target=0", "ranks": "4"}},
			{"files", 0, map[string]string{
				"matrix": "3: 0>1=4096 1>2=4096 2>0=4096", "ranks": "3", "matrix_file": "none",
			}},
			{"files", 1, map[string]string{"matrix": "2: 0>1=1572864", "ranks": "2", "generate": "none"}},
		} {
			for name, want := range c.want {
				if got := settingText(t, byName[c.run], name, c.point); got != want {
					t.Errorf("%s: %s of run %s is %q, want %q", file, name, c.run, got, want)
				}
			}
		}
	}
}

// An error in a matrix file is reported once at its place in that file, for any number of runs.
func TestWrongMatrixFilesAreRefusedAtTheirCharacters(t *testing.T) {
	for _, c := range []struct {
		text         string
		line, column int
		marked       string
		summary      string
	}{
		{"0 1\n5T 0\n", 2, 1, "5T", "Unknown suffix"},
		{"0 -1\n1 0\n", 1, 3, "-1", "Negative size"},
		{"0 1 2\n1 0\n", 2, 1, "1 0", "Not a square"},
		{"0 9223372036854775807\n1 0", 2, 1, "1", "Too much traffic"},
		{"", 1, 1, "", "Empty matrix"},
		{"# µ\n0 1\n\n1 4K # own\n", 4, 3, "4K", "Own cell"},
		{"\t8  1\n1 0", 1, 2, "8", "Own cell"},
		{"0 1 1\r\n1 0 1\r\n1  1\t2", 3, 6, "2", "Own cell"},
	} {
		src := "scenario: s\nruns:\n  a: {workload: traffic, options: {matrix_file: m.txt, own_cells: error}}\n  b: {workload: traffic, options: {own_cells: error}, sweep: {matrix_file: [m.txt]}}\n"
		s, sources, diags := Load("in/main.yaml", []byte(src), Options{
			Env: testEnv, Read: memory(map[string]string{"in/m.txt": c.text}),
		})
		if s != nil || len(diags) != 1 {
			t.Errorf("%q: %v", c.text, diags)
			continue
		}
		checkPlaces(t, sources, diags)
		d := diags[0]
		at := *d.Subject
		if at.Filename != "in/m.txt" || at.Start.Line != c.line || at.Start.Column != c.column ||
			string(at.SliceBytes(sources["in/m.txt"].Bytes)) != c.marked || d.Summary != c.summary {
			t.Errorf("%q: %v at %v, want %s at %d:%d", c.text, d, at, c.summary, c.line, c.column)
		}
		var b bytes.Buffer
		if err := WriteDiagnostics(&b, "text", diags, sources); err != nil ||
			!strings.Contains(b.String(), fmt.Sprintf("--> in/m.txt:%d:%d", c.line, c.column)) {
			t.Errorf("%v %s", err, b.String())
		}
	}
}

func TestMatrixFilesAreReadOnce(t *testing.T) {
	reads := 0
	read := func(path string) ([]byte, error) {
		reads++
		return []byte("0 1\n1 0\n"), nil
	}
	src := "scenario: s\nruns:\n  a: {workload: traffic, sweep: {matrix_file: [m.txt, ./m.txt]}}\n  b: {workload: traffic, options: {matrix_file: m.txt}}\n"
	if _, _, diags := Load("main.yaml", []byte(src), Options{Env: testEnv, Read: read}); diags.HasErrors() ||
		reads != 1 {
		t.Errorf("%d reads, %v", reads, diags)
	}
}

// Paths of matrices in an included file are relative to that file.
func TestMatrixFilesOfIncludedFilesAreBesideThem(t *testing.T) {
	files := map[string]string{
		"sub/other.yaml": "scenario: o\nruns: {o: {workload: traffic, options: {matrix_file: m.txt}}}\n",
		"sub/m.txt":      "0 5\n0 0\n",
	}
	s, _, diags := Load("main.yaml", []byte("scenario: s\ninclude: sub/other.yaml\n"),
		Options{Env: testEnv, Read: memory(files)})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if got := settingText(t, s.Runs[0], "matrix", 0); got != "2: 0>1=5" {
		t.Errorf("the matrix is %q", got)
	}
}

func BenchmarkMatrixFile1024(b *testing.B) {
	m, err := matrix.Uniform(1024, 1572864000)
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.Write(&text, matrix.Rounded); err != nil {
		b.Fatal(err)
	}
	read := memory(map[string]string{"m.txt": text.String()})
	src := []byte("scenario: s\nruns: {a: {workload: traffic, options: {matrix_file: m.txt}}}\n")
	for b.Loop() {
		if _, _, diags := Load("main.yaml", src, Options{Env: testEnv, Read: read}); diags.HasErrors() {
			b.Fatal(diags)
		}
	}
}

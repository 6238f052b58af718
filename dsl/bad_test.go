package dsl

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/test/golden"
)

// TestBrokenScenarios compares the diagnostics of every broken file, as authors see them, with
// golden files.
func TestBrokenScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.[yh]*")
	if err != nil || len(files) < 40 {
		t.Fatal(len(files), err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".txt") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			s, src, diags := LoadFile(file, Options{Env: testEnv})
			if s != nil || !diags.HasErrors() {
				t.Fatal("it loads")
			}
			checkPlaces(t, src, diags)
			var b bytes.Buffer
			if err := WriteDiagnostics(&b, "text", diags, src); err != nil {
				t.Fatal(err)
			}
			golden.Equal(t, file+".txt", b.Bytes())
		})
	}
}

// checkPlaces checks that every diagnostic has a range inside its file.
func checkPlaces(t *testing.T, src Sources, diags hcl.Diagnostics) {
	t.Helper()
	for _, d := range diags {
		if d.Subject == nil {
			continue
		}
		file := src[d.Subject.Filename]
		if file == nil {
			t.Fatalf("%s points into a file that is not there", d.Summary)
		}
		from, to := d.Subject.Start.Byte, d.Subject.End.Byte
		if from < 0 || from > to || to > len(file.Bytes) {
			t.Fatalf("%s: bytes %d to %d of %d", d.Summary, from, to, len(file.Bytes))
		}
		if utf8.Valid(file.Bytes) && from < len(file.Bytes) && !utf8.RuneStart(file.Bytes[from]) {
			t.Fatalf("%s begins inside a character", d.Summary)
		}
		if d.Subject.Start.Line < 1 || d.Subject.Start.Column < 1 {
			t.Fatalf("%s is at %v", d.Summary, d.Subject)
		}
	}
}

func TestDiagnosticFormats(t *testing.T) {
	for _, format := range []string{"json", "github"} {
		_, src, diags := LoadFile("testdata/bad/all_at_once.yaml", Options{})
		var b bytes.Buffer
		if err := WriteDiagnostics(&b, format, diags, src); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, "testdata/format/"+format+".txt", b.Bytes())
	}
	if err := WriteDiagnostics(&bytes.Buffer{}, "xml", nil, nil); err == nil {
		t.Error("format xml was accepted")
	}
}

func TestNoDiagnosticsAreAnEmptyList(t *testing.T) {
	var b bytes.Buffer
	if err := WriteDiagnostics(&b, "json", nil, nil); err != nil || strings.TrimSpace(b.String()) != "[]" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestGithubEscapes(t *testing.T) {
	rng := hcl.Range{Filename: "a,b:c.yaml", Start: hcl.Pos{Line: 2, Column: 3}, End: hcl.Pos{Line: 2, Column: 6}}
	var b bytes.Buffer
	d := hcl.Diagnostics{diagnostic(rng, "Bad: 10%, x", "50% of\nlines", "")}
	if err := WriteDiagnostics(&b, "github", d, nil); err != nil {
		t.Fatal(err)
	}
	want := "::error file=a%2Cb%3Ac.yaml,line=2,col=3,endColumn=5,title=Bad%3A 10%25%2C x::50%25 of%0Alines\n"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
}

func TestControlCharactersDoNotReachTheTerminal(t *testing.T) {
	src := []byte("scenario: bad\nrnus: \"\u009b31m\"\n")
	_, sources, diags := Load("x.yaml", src, Options{})
	var b bytes.Buffer
	if err := WriteDiagnostics(&b, "text", diags, sources); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsRune(b.String(), '\u009b') {
		t.Errorf("%q", b.String())
	}
}

func TestVariablesFromOutsideAreChecked(t *testing.T) {
	_, src, diags := LoadFile("testdata/good/libfabric.yaml", Options{
		Vars: map[string]string{"peek": "1", "peak": "46.48 GB", "p2p": "yes"},
	})
	var b bytes.Buffer
	if err := WriteDiagnostics(&b, "text", diags, src); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "testdata/format/variables.txt", b.Bytes())
}

func TestFilesThatCannotBeRead(t *testing.T) {
	for name, want := range map[string]string{
		"testdata/none.yaml": "Cannot read", "testdata/format/json.txt": "Unknown kind",
	} {
		s, src, diags := LoadFile(name, Options{})
		if s != nil || src == nil || !diags.HasErrors() || !strings.Contains(diags[0].Summary, want) {
			t.Errorf("%s: %v", name, diags)
		}
	}
	big := append([]byte("scenario: x\n#"), bytes.Repeat([]byte("x"), maxSource)...)
	if _, _, diags := Load("big.yaml", big, Options{}); !diags.HasErrors() {
		t.Error("a file above the limit was read")
	}
}

func TestJSONIsComplete(t *testing.T) {
	_, src, diags := LoadFile("testdata/bad/unicode_columns.yaml", Options{})
	var b bytes.Buffer
	if err := WriteDiagnostics(&b, "json", diags, src); err != nil {
		t.Fatal(err)
	}
	var reports []map[string]any
	if err := json.Unmarshal(b.Bytes(), &reports); err != nil || len(reports) != len(diags) {
		t.Fatal(err, len(reports))
	}
	for _, r := range reports {
		for _, key := range []string{
			"severity", "summary", "detail", "file", "line", "column", "end_line", "end_column", "snippet",
		} {
			if r[key] == nil || r[key] == "" {
				t.Errorf("%s is missing in %v", key, r)
			}
		}
	}
}

package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// alike compares all that a document holds.
var alike = cmp.Options{cmpopts.EquateNaNs(), cmp.AllowUnexported(Named[float64]{}, Named[MetricEstimate]{})}

// storedDocuments are those that reporters are tested with.
func storedDocuments(t testing.TB) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../reporters/testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	out := map[string][]byte{}
	for _, path := range paths {
		if out[path], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// sameDocument reads a document case by case and as a whole. What the one takes the other
// takes too, and finds the same in it.
func sameDocument(t *testing.T, text []byte) (read bool) {
	t.Helper()
	got, _, err := decode(bytes.NewReader(text), true)
	if err != nil && strings.Contains(err.Error(), "no object") {
		return false
	}
	want := new(Document)
	if wrong := jsonv2.Unmarshal(text, want); (err == nil) != (wrong == nil) {
		t.Fatalf("%q case by case: %v; as a whole: %v", text, err, wrong)
	}
	if err != nil {
		return false
	}
	if diff := cmp.Diff(want, got, alike, cmpopts.EquateEmpty(), readAs); diff != "" {
		t.Fatalf("read %q otherwise: %s", text, diff)
	}
	return true
}

// However a document is laid out, it is the same one, and whole.
func TestLayoutsAreAlike(t *testing.T) {
	lines, most := 0, 0
	for path, text := range storedDocuments(t) {
		var indented, dense bytes.Buffer
		if err := json.Indent(&indented, text, "", "\t"); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&dense, text); err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{text, indented.Bytes(), dense.Bytes()} {
			if !sameDocument(t, text) {
				t.Errorf("%s is not read", path)
			}
			if _, changed, err := decode(bytes.NewReader(text), true); err != nil || changed != nil {
				t.Errorf("%s: %v, %v", path, changed, err)
			}
		}
		lines += bytes.Count(text, []byte("\n"))
		most += bytes.Count(indented.Bytes(), []byte("\n")) / 2
	}
	if lines > most {
		t.Errorf("there are %d lines", lines)
	}
}

// What is written is what is stored, to the letter.
func TestStoredDocumentsAreWrittenAgain(t *testing.T) {
	for path, want := range storedDocuments(t) {
		d, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

var oddDocuments = []string{
	`{"cases": [{"key": "a\"b", "reason": "größer", "launches": [{"metrics": {"x": "NaN", "y": "-Infinity", "z": -0.5e-3}}], "options": {"a": [1, {"b": null}]}}]}`,
	`{"cases": [{"launches": [{"metrics": {"b": 1, "a": 2}}, {"metrics": {"b": 1, "a\u0062": 2, "größer": 3}}, {"metrics": {}}, {"started": "2026-11-22T02:42:58.35634204Z"}]}]}`,
	`{"cases": [{"launches": [{"metrics": {"a": 1, "b": 2}}, {"metrics": {"a": 3}}, {"metrics": {"a": 4, "b": 5, "c": 6}}, {"metrics": null}, {"metrics": {"b": 7}}]}]}`,
	`{"cases": [{"assertions": [{"name": "n", "verdict": "pass", "observed": {"value": 1, "ci": [0, 2]}, "message": "m"}]}], "later": {"cases": [{}]}}`,
	`{"baseline": {"cases": [{"key": "x"}]}, "cases": [{"key": "a"}], "assertions": null}`, `{"cases": null}`,
	`{"cases": []}`, `{}`, ` {"cases" : [ {} , {} ] } `,
}

func TestOddDocumentsAreRead(t *testing.T) {
	for _, text := range oddDocuments {
		if !sameDocument(t, []byte(text)) {
			t.Errorf("not read: %s", text)
		}
	}
}

// What is no JSON document is refused, and the error says where it is not.
func TestBrokenDocumentsAreRefused(t *testing.T) {
	for text, place := range map[string]string{
		``: "EOF", `null`: "no object", `[]`: "no object", `schema: x`: "invalid character 's'",
		`{"cases": [{"key": "a"}]} {}`:                               "follows the document, at byte",
		`{"cases": [{"key": "a"}]} x`:                                "invalid character 'x'",
		`{"cases": [{"key": "a"},`:                                   "/cases",
		`{"cases": [{"key": "a"}`:                                    "/cases",
		`{"cases": [{"key": "a"},]}`:                                 "/cases",
		`{"cases": [{"key": "a"}], "plan": {"ca`:                     "/plan",
		`{"cases": [{"key": "a"}], "cases": []}`:                     "duplicate",
		`{"plan": {}, "plan": {}}`:                                   "duplicate",
		`{"cases": [{"launches": [{"index": 1, "index": 2}]}]}`:      "/cases/0/launches/0",
		`{"cases": [{}, {"launches": [{"metrics": {"a": null}}]}]}`:  "case 1: ",
		`{"cases": [{"launches": [{"metrics": {"a": 1, "a": 2}}]}]}`: "duplicate",
		`{"cases": [{"launches": [{"metrics": {"a": "nan"}}]}]}`:     "not a number",
		`{"cases": [{"launches": [{"metrics": {"a": 1e400}}]}]}`:     "not a number",
		`{"cases": [{"launches": [{"duration_s": "1"}]}]}`:           "/launches/0/duration_s",
		`{"cases": [{"metrics": {"a": {"ci": [1]}}}]}`:               "/metrics/a/ci",
		"{\"cases\": [{\"key\": \"\xff\"}]}":                         "UTF-8",
		`{"session": {"id": 1}}`:                                     "/session/id",
		`{"cases": {}}`:                                              "/cases",
	} {
		_, _, err := decode(strings.NewReader(text), true)
		if err == nil || !strings.Contains(err.Error(), place) {
			t.Errorf("%s: %v, which does not say %q", text, err, place)
		}
	}
}

// readAs is what a document is told of how it was read, which its text has not.
var readAs = cmpopts.IgnoreFields(Document{}, "ReadUnsealed")

// FuzzReader starts from small documents, which a fuzzer can take apart in its time.
func FuzzReader(f *testing.F) {
	for _, text := range storedDocuments(f) {
		var d struct{ Cases []json.RawMessage }
		if err := json.Unmarshal(text, &d); err != nil {
			f.Fatal(err)
		}
		for _, c := range d.Cases {
			if len(c) < 4<<10 {
				f.Add(fmt.Appendf(nil, `{"cases":[%s]}`, c))
			}
		}
	}
	for _, text := range oddDocuments {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { sameDocument(t, text) })
}

// What many cases have in common is one value in all of them.
func TestCasesShareWhatTheyHaveInCommon(t *testing.T) {
	launch := `{"nodes": ["n1", "n2"], "metrics": {"a": 1, "b": 2}}`
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	d, _, err := decode(strings.NewReader(`{"cases": [{"launches": [`+launch+`]}, {"launches": [`+launch+`]}]}`), false)
	if err != nil {
		t.Fatal(err)
	}
	one, other := d.Cases[0].Launches[0], d.Cases[1].Launches[0]
	if &one.Nodes[0] != &other.Nodes[0] || &one.Metrics.Names()[0] != &other.Metrics.Names()[0] {
		t.Error("they have lists of their own")
	}
}

// What cannot be written is an error, and what is no UTF-8 is replaced.
func TestEncodeOfWhatJSONHasNot(t *testing.T) {
	d := &Document{Cases: []*Case{{Reason: "a\xffb"}}}
	text, err := d.Encode()
	if err != nil || !bytes.Contains(text, []byte("a\ufffdb")) {
		t.Errorf("%s, %v", text, err)
	}
	d.Cases[0].Metrics = NamedOf(map[string]MetricEstimate{"a": {Value: math.NaN()}})
	if text, err := d.Encode(); err == nil {
		t.Errorf("written as %s", text)
	}
}

func BenchmarkDocument(b *testing.B) {
	one, err := Read("../reporters/testdata/failed.json")
	if err != nil {
		b.Fatal(err)
	}
	large := *one
	large.Cases = nil
	for range 10_000 / len(one.Cases) {
		for _, c := range one.Cases {
			own := *c
			large.Cases = append(large.Cases, &own)
		}
	}
	text, err := large.Encode()
	if err != nil {
		b.Fatal(err)
	}
	var held *Document
	for name, do := range map[string]func() error{
		"read":  func() (err error) { held, _, err = decode(bytes.NewReader(text), false); return err },
		"whole": func() (err error) { held, _, err = decode(bytes.NewReader(text), true); return err },
		"write": func() error { _, err := large.Encode(); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			before := live()
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((live()-before)/1e6, "held-MB")
			runtime.KeepAlive(held)
			held = nil
		})
	}
}

// live is how many bytes of the heap are in use.
func live() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

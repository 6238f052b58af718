package results

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// alike compares all that a document holds.
var alike = cmp.Options{cmpopts.EquateNaNs(), cmp.AllowUnexported(Named[float64]{}, Named[MetricEstimate]{})}

// tags are the JSON names of a struct's members, in order.
func tags(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

func membersOf[T any](t *testing.T, list []member[T]) {
	t.Helper()
	var names []string
	for _, m := range list {
		names = append(names, m.name)
	}
	if diff := cmp.Diff(tags(reflect.TypeFor[T]()), names); diff != "" {
		t.Errorf("%v: %s", reflect.TypeFor[T](), diff)
	}
}

func TestEveryMemberIsDecoded(t *testing.T) {
	membersOf(t, caseMembers)
	membersOf(t, launchMembers)
	membersOf(t, shareMembers)
	membersOf(t, estimateMembers)
	membersOf(t, observedMembers)
}

// storedCases are those of the documents that reporters are tested with.
func storedCases(t testing.TB) [][]byte {
	t.Helper()
	paths, err := filepath.Glob("../reporters/testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	var out [][]byte
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var d struct{ Cases []json.RawMessage }
		if err := json.Unmarshal(b, &d); err != nil {
			t.Fatal(err)
		}
		for _, c := range d.Cases {
			out = append(out, c)
		}
	}
	return out
}

// What the scanner takes, it reads as encoding/json does.
func sameCase(t *testing.T, text []byte) (scanned bool) {
	t.Helper()
	got := new(Case)
	if !scanCase(text, newKept(), got) {
		return false
	}
	want := new(Case)
	if err := json.Unmarshal(text, want); err != nil {
		t.Fatalf("read %q, of which encoding/json says: %v", text, err)
	}
	if diff := cmp.Diff(want, got, alike); diff != "" {
		t.Fatalf("read %q otherwise: %s", text, diff)
	}
	return true
}

func TestScannerReadsWhatWeirWrites(t *testing.T) {
	for _, text := range storedCases(t) {
		if !sameCase(t, text) {
			t.Errorf("left to encoding/json: %s", text)
		}
	}
	odd := `{"key": "a\"b", "reason": "größer", "launches": [{"metrics": {"x": "NaN", "y": "-Infinity", "z": -0.5e-3}}], "metrics": null, "options": {"a": [1, {"b": null}]}}`
	if !sameCase(t, []byte(odd)) {
		t.Error("an odd case is left to encoding/json")
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range storedCases(f) {
		if len(text) < 4<<10 {
			f.Add(text)
		}
	}
	f.Add([]byte(`{"key":"a","launches":[{"index":0,"metrics":{"bandwidth":1e-3}}],"assertions":[{"name":"n","verdict":"pass","observed":{"value":1,"ci":[0,2]},"message":"m"}]}`))
	f.Add([]byte(`{"launches":[{"metrics":{"b":1,"a":2,"b":3}},{"metrics":{"b":1,"a\u0062":2}},{"metrics":{}},{"started":"2026-11-22T02:42:58.35634204Z"}],"axes":{null:1}}`))
	f.Fuzz(func(t *testing.T, text []byte) { sameCase(t, text) })
}

// In whatever order metrics stand, and if one stands twice, they are those that
// encoding/json finds.
func TestMetricsInAnyOrder(t *testing.T) {
	for _, metrics := range []string{
		`{"a": 1, "b": 2}, {"b": 3, "a": 4}, {"a": 5, "b": 6}`, `{"b": 1, "a": 2, "b": 3}, {"a": 4, "b": 5}`, `{"a": 1, "a": 2}, {"a": 3}`,
		`{"a": 1, "b": 2}, {"a": 3}, {"a": 4, "b": 5, "c": 6}, {}, {"b": 7}`, `{"a\u0062": 1, "größer": 2}, {"ab": 3}`, `null, {"a": 1}`,
	} {
		launches := strings.NewReplacer("{", `{"metrics": {`, "}", "}}", "null", `{"metrics": null}`).Replace(metrics)
		if !sameCase(t, []byte(`{"launches": [`+launches+`]}`)) {
			t.Errorf("left to encoding/json: %s", launches)
		}
	}
}

// The lists of names that launches share are few, however many there are.
func TestListsOfNamesAreBounded(t *testing.T) {
	k := newKept()
	for i := range 10 * mostLists {
		text := fmt.Sprintf(`{"launches": [{"metrics": {"m%d": 1}}]}`, i)
		if c := new(Case); !scanCase([]byte(text), k, c) || c.Launches[0].Metrics.Len() != 1 {
			t.Fatalf("%s is %v", text, c.Launches)
		}
		if len(k.known) > mostLists {
			t.Fatalf("%d lists are kept", len(k.known))
		}
	}
}

func TestNumbersAreReadAsJSONDoes(t *testing.T) {
	texts := []string{
		"0", "-0", "1", "-1.5", "0.1", "1e22", "1e23", "1E+22", "1e-22", "1e-23", "9007199254740992", "9007199254740993", "0.0072293390000000001", "123456789012345678901234567890",
		"0.00000000000000000000000000001", "1e400", "1e-400", "1e99999999999999999999", "0.000000000000000000000000000000000000001e39", "4.9e-324", "1.7976931348623157e308",
		"01", "1.", ".5", "-", "1e", "1e+", "+1", "0x1", "", "--1", "1.e3", "00",
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		v := math.Float64frombits(random.Uint64())
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		texts = append(texts, strconv.FormatFloat(v, "eg"[random.IntN(2)], random.IntN(20)-1, 64), strconv.FormatFloat(random.ExpFloat64(), 'f', random.IntN(20), 64))
	}
	for _, text := range texts {
		var want float64
		err := json.Unmarshal([]byte(text), &want)
		s := &scan{text: []byte(text), kept: newKept()}
		got := s.float()
		bad := s.bad || s.next() != 0
		if bad != (err != nil) || !bad && math.Float64bits(got) != math.Float64bits(want) {
			t.Errorf("%s is read as %v (bad: %v), want %v, %v", text, got, bad, want, err)
		}
	}
}

func TestNumbersAreWrittenAsJSONDoes(t *testing.T) {
	for _, v := range []float64{0, math.Copysign(0, -1), 1, -1.5, 1e-6, 9.99e-7, 1e-9, -1e-10, 1e20, 1e21, 1.234e100, math.MaxFloat64, math.SmallestNonzeroFloat64, 46.48} {
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendNumber(nil, v); !bytes.Equal(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, text := range []string{"bandwidth", "a\"b", `a\b`, "<&>", "größer", "\x01", ""} {
		want, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendText(nil, text); !bytes.Equal(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// However a document is laid out, on however many processors, it is the same one.
func TestLayoutsAreAlike(t *testing.T) {
	for _, path := range []string{"failed", "passed", "traffic"} {
		b, err := os.ReadFile("../reporters/testdata/" + path + ".json")
		if err != nil {
			continue
		}
		var want Document
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatal(err)
		}
		lined, err := want.Encode()
		if err != nil {
			t.Fatal(err)
		}
		var indented, dense bytes.Buffer
		if err := json.Indent(&indented, lined, "", "  "); err != nil {
			t.Fatal(err)
		}
		if err := json.Compact(&dense, lined); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{"lined": lined, "indented": indented.Bytes(), "dense": dense.Bytes()} {
			byCase, err := decodeByCase(bytes.NewReader(text))
			if (err == nil) != (name != "dense") {
				t.Errorf("%s, %s: %v", path, name, err)
			}
			whole, err := decode(bytes.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			for _, got := range []*Document{byCase, whole} {
				if diff := cmp.Diff(&want, got, alike); got != nil && diff != "" {
					t.Errorf("%s, %s: %s", path, name, diff)
				}
			}
		}
		if n := len(bytes.Split(lined, []byte("\n"))); n > len(bytes.Split(indented.Bytes(), []byte("\n")))/2 {
			t.Errorf("%s has %d lines", path, n)
		}
	}
}

// A line that only looks like the end of a case does not mislead.
func TestLinesThatMislead(t *testing.T) {
	for name, text := range map[string]string{
		"cases elsewhere":    "{\n  \"baseline\": {\n  \"cases\": [\n    {\n\"key\": \"x\"\n    }\n  ]}, \"cases\": [{\"key\": \"a\"}]\n}",
		"twice":              "{\n  \"cases\": [\n    {\"key\": \"a\"\n    }\n  ],\n  \"cases\": [\n    {\"key\": \"b\"\n    }\n  ]\n}",
		"an end within":      "{\n  \"cases\": [\n    {\"key\": \"a\", \"options\": {\n    },\n \"run\": \"r\"}]}",
		"something between":  "{\n  \"cases\": [\n    {\"key\": \"a\"\n    }\n, {\"key\": \"b\"}\n  ]\n}",
		"no end":             "{\n  \"cases\": [\n    {\"key\": \"a\"\n    },\n",
		"a comma and no end": "{\n  \"cases\": [\n    {\"key\": \"a\"\n    },\n  ]\n}",
	} {
		var want Document
		wrong := json.Unmarshal([]byte(text), &want)
		got, err := decode(strings.NewReader(text))
		if (wrong == nil) != (err == nil) {
			t.Errorf("%s: %v, where encoding/json says %v", name, err, wrong)
		} else if err == nil && !cmp.Equal(&want, got, alike) {
			t.Errorf("%s: %s", name, cmp.Diff(&want, got, alike))
		}
	}
}

func BenchmarkDocument(b *testing.B) {
	var one Document
	text, err := os.ReadFile("../reporters/testdata/failed.json")
	if err != nil {
		b.Fatal(err)
	}
	if err := json.Unmarshal(text, &one); err != nil {
		b.Fatal(err)
	}
	large := one
	large.Cases = slices.Repeat(one.Cases, 10_000/len(one.Cases))
	if text, err = large.Encode(); err != nil {
		b.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"read":  func() error { _, err := decode(bytes.NewReader(text)); return err },
		"write": func() error { _, err := large.Encode(); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
		})
	}
}

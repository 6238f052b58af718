package tooloutput

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"weir/quantity"
	"weir/test/golden"
)

// TestFormats holds that each metric is one that weir can judge.
func TestFormats(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Formats() {
		if seen[f.Name] {
			t.Errorf("format %s is there twice", f.Name)
		}
		seen[f.Name] = true
		if f.Doc == "" || f.Read == nil || len(f.Metrics) == 0 {
			t.Errorf("%s: no documentation, reader or metrics", f.Name)
		}
		names := map[string]bool{}
		for _, m := range f.Metrics {
			if names[m.Name] {
				t.Errorf("%s: metric %s is there twice", f.Name, m.Name)
			}
			names[m.Name] = true
			if _, ok := quantity.UnitOf(m.Unit); !ok {
				t.Errorf("%s: metric %s has unit %q", f.Name, m.Name, m.Unit)
			}
			if m.Better != Higher && m.Better != Lower && m.Better != Neither {
				t.Errorf("%s: metric %s is better %q", f.Name, m.Name, m.Better)
			}
			if m.Doc == "" {
				t.Errorf("%s: metric %s says not what it counts", f.Name, m.Name)
			}
		}
		if got, ok := Lookup(f.Name); !ok || got.Name != f.Name {
			t.Errorf("Lookup(%q) = %q, %v", f.Name, got.Name, ok)
		}
	}
	if _, ok := Lookup("nosuch"); ok {
		t.Error("Lookup found a format that does not exist")
	}
}

// outputs are the recorded outputs of a format, by file name.
func outputs(t testing.TB, format string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	names, err := filepath.Glob(filepath.Join("testdata", format, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if ext := filepath.Ext(name); ext != ".txt" && ext != ".json" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		found[filepath.Base(name)] = text
	}
	if len(found) == 0 {
		t.Fatalf("no output of %s is recorded", format)
	}
	return found
}

// TestRecordedOutputs reads each recorded output and compares all of its rows, number by
// number, with the golden table beside it.
func TestRecordedOutputs(t *testing.T) {
	for _, f := range Formats() {
		has := map[string]bool{}
		for name, text := range outputs(t, f.Name) {
			got, err := f.Read(text)
			if err != nil {
				t.Errorf("%s/%s: %v", f.Name, name, err)
				continue
			}
			checkRows(t, f, got)
			for _, row := range got {
				for metric := range row.Values {
					has[metric] = true
				}
			}
			golden.Equal(t, filepath.Join("testdata", f.Name, name+".golden"), []byte(table(f, got)))
		}
		for _, m := range f.Metrics {
			if !has[m.Name] {
				t.Errorf("%s: no recorded output has metric %s", f.Name, m.Name)
			}
		}
	}
}

// checkRows holds what a caller may rely on.
func checkRows(t testing.TB, f Format, found []Row) {
	t.Helper()
	if len(found) == 0 {
		t.Fatalf("%s: neither a row nor an error", f.Name)
	}
	places := map[string]bool{}
	for _, row := range found {
		if len(row.Values) == 0 {
			t.Errorf("%s: line %d has no value", f.Name, row.Line)
		}
		if p := place(row.At); places[p] {
			t.Errorf("%s: line %d: a second row %s", f.Name, row.Line, p)
		} else {
			places[p] = true
		}
		for k := range row.At {
			if !contains(f.Keys, k) {
				t.Errorf("%s: key %s is not among those of the format", f.Name, k)
			}
		}
		for name, v := range row.Values {
			if !hasMetric(f, name) {
				t.Errorf("%s: metric %s is not among those of the format", f.Name, name)
			}
			if v-v != 0 {
				t.Errorf("%s: %s = %v", f.Name, name, v)
			}
		}
	}
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

func hasMetric(f Format, name string) bool {
	for _, m := range f.Metrics {
		if m.Name == name {
			return true
		}
	}
	return false
}

// table writes rows as text, every number with all of its digits.
func table(f Format, found []Row) string {
	var b strings.Builder
	for _, row := range found {
		fmt.Fprintf(&b, "line %d", row.Line)
		for _, k := range f.Keys {
			if v, ok := row.At[k]; ok {
				fmt.Fprintf(&b, " %s=%q", k, v)
			}
		}
		b.WriteString(":\n")
		for _, m := range f.Metrics {
			if v, ok := row.Values[m.Name]; ok {
				fmt.Fprintf(&b, "  %s %s %s\n", m.Name, strconv.FormatFloat(v, 'g', -1, 64), m.Unit)
			}
		}
	}
	return b.String()
}

// standAlone are the formats that nothing closes: what an output of fewer rows says is
// true as far as it goes. Of all others any part is an error.
var standAlone = map[string]bool{"fabtests": true, "ucx_perftest": true, "vllm-bench": true}

// TestPrefixes cuts each recorded output at each byte.
func TestPrefixes(t *testing.T) {
	for _, f := range Formats() {
		for name, text := range outputs(t, f.Name) {
			t.Run(f.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				whole, err := f.Read(text)
				if err != nil {
					t.Fatal(err)
				}
				for n := range text {
					part, err := f.Read(text[:n])
					if err != nil {
						continue
					}
					if len(part) > len(whole) || !reflect.DeepEqual(part, whole[:len(part)]) {
						t.Fatalf("of the first %d bytes: rows that the whole output does not begin with", n)
					}
					if len(part) < len(whole) && !standAlone[f.Name] {
						t.Fatalf("the first %d bytes have %d of %d rows and no error", n, len(part), len(whole))
					}
				}
			})
		}
	}
}

// TestWithoutResult holds that an output without any result is told from a broken one.
func TestWithoutResult(t *testing.T) {
	for _, f := range Formats() {
		for _, text := range []string{"", "\n \n"} {
			if found, err := f.Read([]byte(text)); !errors.Is(err, ErrNothing) {
				t.Errorf("%s: %q gives %v, %v", f.Name, text, found, err)
			}
		}
		if found, err := f.Read([]byte("hello\n")); err == nil {
			t.Errorf("%s: hello gives %v", f.Name, found)
		}
	}
}

// wantError reads an output that must be an error, and compares what it says.
func wantError(t *testing.T, f Format, output, want string) {
	t.Helper()
	if found, err := f.Read([]byte(output)); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s of %.60q: got %d rows, error %v, want an error with %s", f.Name, output, len(found), err, want)
	}
}

// edit is a change of a recorded output, and what the error then says.
type edit struct{ name, old, new, want string }

// checkEdits applies each change to an output, at its first place, and reads it.
func checkEdits(t *testing.T, f Format, file string, edits []edit) {
	t.Helper()
	text := outputs(t, f.Name)[file]
	for _, e := range edits {
		if !bytes.Contains(text, []byte(e.old)) {
			t.Errorf("%s: %s has no %q", e.name, file, e.old)
			continue
		}
		found, err := f.Read(bytes.Replace(text, []byte(e.old), []byte(e.new), 1))
		if err == nil || !strings.Contains(err.Error(), e.want) {
			t.Errorf("%s: got %d rows, error %v, want an error with %q", e.name, len(found), err, e.want)
		}
	}
}

// TestLongOutputs reads an output of a megabyte of each format in four bad shapes. The
// work may grow with the length only: where it did with its square, this took hours.
func TestLongOutputs(t *testing.T) {
	const size = 1_000_000
	for _, f := range Formats() {
		var text []byte
		for _, other := range outputs(t, f.Name) {
			if len(other) > len(text) {
				text = other
			}
		}
		long := bytes.Repeat(text, size/len(text))
		for name, output := range map[string][]byte{
			"repeated": long,
			"one line": bytes.ReplaceAll(long, []byte("\n"), []byte(" ")),
			"nested":   append(bytes.Repeat([]byte("[{\"a\":"), size/6), text...),
			"in a log": append(bytes.Repeat([]byte("[1795232864.215718] a line of a log\n"), size/36), text...),
		} {
			start := time.Now()
			_, _ = f.Read(output)
			if took := time.Since(start); took > time.Minute {
				t.Errorf("%s, %s: %d bytes took %v", f.Name, name, len(output), took)
			}
		}
	}
}

package output

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/internal/datafile"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/test/phase"
)

// TestFormats checks that weir can judge each metric.
func TestFormats(t *testing.T) {
	for _, f := range Formats() {
		if f.Doc == "" || f.Versions == "" || f.Read == nil || len(f.Metrics) == 0 {
			t.Errorf("%s: no documentation, versions, reader or metrics", f.Name)
		}
		names := map[string]bool{}
		for _, m := range f.Metrics {
			if names[m.Name] {
				t.Errorf("%s: metric %s occurs twice", f.Name, m.Name)
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
	}
	if _, ok := Lookup("nosuch"); ok {
		t.Error("Lookup found a format that does not exist")
	}
}

func formatOf(t testing.TB, name string) Format {
	t.Helper()
	f, ok := Lookup(name)
	if !ok {
		t.Fatalf("there is no format %s", name)
	}
	return f
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

// checkRows checks what callers rely on.
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
			if !slices.Contains(f.Keys, k) {
				t.Errorf("%s: key %s is not among those of the format", f.Name, k)
			}
		}
		for name, v := range row.Values {
			if !slices.ContainsFunc(f.Metrics, func(m Metric) bool { return m.Name == name }) {
				t.Errorf("%s: metric %s is not among those of the format", f.Name, name)
			}
			if v-v != 0 {
				t.Errorf("%s: %s = %v", f.Name, name, v)
			}
		}
	}
}

// table writes rows as text, every number with all of its digits.
func table(f Format, found []Row) string {
	var b strings.Builder
	for _, row := range found {
		fmt.Fprintf(&b, "line %d", row.Line)
		if row.Version != "" {
			fmt.Fprintf(&b, " of %s", row.Version)
		}
		if row.Between > 0 {
			fmt.Fprintf(&b, " (%d passed over)", row.Between)
		}
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
		for _, name := range sortedNames(row.Others) {
			fmt.Fprintf(&b, "  (%s) %s\n", name, strconv.FormatFloat(row.Others[name], 'g', -1, 64))
		}
	}
	return b.String()
}

// standAlone are the formats without an end mark: an output with fewer rows is valid. For all
// others, any part is an error.
var standAlone = map[string]bool{
	"nccl-tests/made_two_collectives.txt": true, "fio/made_terse_two_jobs.txt": true, "fio/terse_5.txt": true,
	"guidellm/made_yaml.txt": true,
	"fabtests":               true, "osu": true, "ucx_perftest": true, "vllm-bench": true}

// TestPrefixes cuts each recorded output at each byte.
func TestPrefixes(t *testing.T) {
	for _, f := range Formats() {
		for name, text := range outputs(t, f.Name) {
			if f.Name+"/"+name == "ucx_perftest/made_until_1_8.txt" {
				continue // nothing tells its last line from the others
			}
			t.Run(f.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				whole, err := f.Read(text)
				if err != nil {
					t.Fatal(err)
				}
				for n := 0; n < len(text); n += toNextPrefix(n, len(text)) {
					part, err := f.Read(text[:n])
					if err != nil {
						continue
					}
					if len(part) > len(whole) || !slices.EqualFunc(part, whole[:len(part)], begins) {
						t.Fatalf("of the first %d bytes: rows that the whole output does not begin with", n)
					}
					if len(part) < len(whole) && !standAlone[f.Name] && !standAlone[f.Name+"/"+name] {
						t.Fatalf("the first %d bytes have %d of %d rows and no error", n, len(part), len(whole))
					}
				}
			})
		}
	}
}

// toNextPrefix is the distance to the next prefix of a text that is tried: a prime before the last thousand bytes,
// where the results of most tools are, unless all are tried.
func toNextPrefix(n, size int) int {
	if phase.Whole() || n+1000 > size {
		return 1
	}
	return 37
}

// begins reports whether a row has nothing that the row of the whole output does not have.
func begins(part, whole Row) bool {
	for name, v := range part.Values {
		if w, ok := whole.Values[name]; !ok || v != w {
			return false
		}
	}
	for key, v := range part.At { // a title only if there are several
		if whole.At[key] != v {
			return false
		}
	}
	return part.Line == whole.Line
}

// TestWithoutResult checks that an output without any result differs from a broken one.
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

// wrong is an invalid output, made from a recorded one.
type wrong struct {
	Name     string
	Text     string // the output
	Old, New string // or this is replaced by that
	All      bool   // at each place; false: at the first
	Cut, Add string // or truncated before this, with that at its end
	Twice    bool   // or repeated
	Says     string // the error
}

func (w *wrong) output(text string) string {
	switch n := 1; {
	case w.Text != "":
		return w.Text
	case w.Twice:
		return text + text
	case w.Cut != "":
		text, _, _ = strings.Cut(text, w.Cut)
		return text + w.Add
	default:
		if w.All {
			n = -1
		}
		return strings.Replace(text, w.Old, w.New, n)
	}
}

// TestErrors applies errors.yaml of each tool to its outputs.
func TestErrors(t *testing.T) {
	for _, f := range Formats() {
		dir := filepath.Join("testdata", f.Name)
		text, err := os.ReadFile(filepath.Join(dir, "errors.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var files map[string][]wrong
		if err := datafile.Decode(text, &files); err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
		for file, all := range files {
			var recorded []byte
			if file != "" {
				if recorded, err = os.ReadFile(filepath.Join(dir, file)); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range all {
				if old := w.Old + w.Cut; !bytes.Contains(recorded, []byte(old)) {
					t.Errorf("%s, %s: %s has no %q", f.Name, w.Name, file, old)
				}
				found, err := f.Read([]byte(w.output(string(recorded))))
				if err == nil || w.Says == "" || !strings.Contains(err.Error(), w.Says) {
					t.Errorf("%s, %s: got %d rows, error %v, want %q", f.Name, w.Name, len(found), err, w.Says)
				}
			}
		}
	}
}

// Configuration that nixlbench prints after the table does not belong to it.
func TestNixlbenchConfigurationIsAboveTheTable(t *testing.T) {
	const line = "Max batch size (--max_batch_size=N)                         : 1\n"
	above := string(outputs(t, "nixlbench")["posix_write.txt"])
	below := strings.Replace(above, line, "", 1) + line
	if _, err := formatOf(t, "nixlbench").Read([]byte(below)); above == below || err == nil ||
		!strings.Contains(err.Error(), "has no --max_batch_size") {
		t.Errorf("got %v", err)
	}
}

// A distribution of nothing is all 0, which is not a measurement.
func TestGuidellmDistributionOfNothing(t *testing.T) {
	text := outputs(t, "guidellm")["made_benchmarks.json"]
	text = bytes.ReplaceAll(text, []byte(`"count": 40`), []byte(`"count": 0`))
	found, err := formatOf(t, "guidellm").Read(text)
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := found[0].Values["ttft.p50"]; ok {
		t.Errorf("ttft.p50 of no request is %v", v)
	}
}

// One output for each of 15 sizes, recorded into one file.
func TestUCXPerftestRecordedSizes(t *testing.T) {
	text, err := os.ReadFile("testdata/ucx_perftest/sizes_put_bw.multi")
	if err != nil {
		t.Fatal(err)
	}
	f := formatOf(t, "ucx_perftest")
	var all strings.Builder
	for _, part := range strings.Split(string(text), "## size ")[1:] {
		title, part, _ := strings.Cut(part, "\n")
		found, err := f.Read([]byte(part))
		if err != nil {
			t.Fatalf("size %s: %v", title, err)
		}
		all.WriteString("size " + title + " " + table(f, found))
	}
	golden.Equal(t, "testdata/ucx_perftest/sizes_put_bw.multi.golden", []byte(all.String()))
}

// TestLongOutputs reads a megabyte in four bad shapes for each format. Time must be linear in the
// length: quadratic time would take hours.
func TestLongOutputs(t *testing.T) {
	size := 200_000
	if phase.Whole() {
		size = 1_000_000
	}
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

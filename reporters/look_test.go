package reporters

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// lookedAt is the head of the first table of a document, of which each line has all spaces in a row as one.
func lookedAt(t *testing.T, doc *results.Document, look Look) string {
	t.Helper()
	var b bytes.Buffer
	if err := Table(&b, doc, look); err != nil {
		t.Fatal(err)
	}
	_, head, _ := strings.Cut(b.String(), "\n")
	head, _, _ = strings.Cut(head, "──")
	return strings.TrimSpace(regexp.MustCompile(` +`).ReplaceAllString(head, " "))
}

// The named columns come between the axes and the verdict, in the order in which they are named, whatever the width.
func TestTableHasTheNamedColumns(t *testing.T) {
	doc := read(t, "failed")
	for i, c := range doc.Cases {
		c.AxisOrder = []string{"fabric", "block_size"}
		c.Axes["fabric"] = []any{"shm", "tcp", "ucx"}[i]
	}
	for _, c := range []struct{ columns, want string }{
		{"latency.p50,bandwidth", "fabric block size latency p50 bandwidth verdict µs GB/s"},
		{"bandwidth,fabric", "block size bandwidth fabric verdict GB/s"},
		{"bandwidth.ci,n,batch", "fabric block size 96% n batch verdict CI"},
		{"verdict,n", "fabric block size verdict n"},
		{"latency.p99.ci", "fabric block size 96% verdict CI"},
	} {
		names := strings.Split(c.columns, ",")
		if err := CheckColumns(doc, names); err != nil {
			t.Error(err)
		}
		for _, width := range []int{0, 20} {
			got := lookedAt(t, doc, Look{Width: width, Columns: names})
			words := strings.Fields(got)
			for _, word := range strings.Fields(c.want) {
				if !slices.Contains(words, word) {
					t.Errorf("--columns %s, %d wide: no %q in %q", c.columns, width, word, got)
				}
			}
			if len(words) != len(strings.Fields(c.want)) {
				t.Errorf("--columns %s, %d wide: %q, want %q", c.columns, width, got, c.want)
			}
		}
	}
	var heads []string
	for _, c := range grids(doc)[0].chosen([]string{"n", "latency.p50", "bandwidth"}) {
		heads = append(heads, c.name)
	}
	if got := strings.Join(heads, ","); got != "fabric,block_size,n,latency.p50,bandwidth,verdict" {
		t.Errorf("the order is %s", got)
	}
}

// The verdict is coloured in whichever column it stands.
func TestVerdictIsColoredInAnyColumn(t *testing.T) {
	var b bytes.Buffer
	if err := Table(&b, read(t, "failed"), Look{Color: true, Columns: []string{"verdict", "n"}}); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`\x1b\[31m✗ fail\x1b\[0m +\d+\n`).MatchString(b.String()) {
		t.Errorf("%q", b.String())
	}
}

// A wide table has all columns and all measured metrics, however narrow the terminal is.
func TestWideTableHasAllMetrics(t *testing.T) {
	doc := read(t, "failed")
	g := grids(doc)[0]
	var names []string
	for _, c := range g.all() {
		names = append(names, c.name)
	}
	for _, c := range g.columns {
		if !slices.Contains(names, c.name) {
			t.Errorf("%s is gone", c.name)
		}
	}
	for _, c := range doc.Cases {
		for name := range c.Metrics.All() {
			if !slices.Contains(names, name) {
				t.Errorf("%s is missing in %v", name, names)
			}
		}
	}
	if len(names) <= len(g.columns) || names[len(names)-1] != verdictColumn {
		t.Errorf("the columns are %v", names)
	}
	if wide := lookedAt(t, doc, Look{Wide: true, Width: 60}); wide != lookedAt(t, doc, Look{Wide: true}) {
		t.Errorf("in a narrow terminal: %q", wide)
	}
}

// An unknown name is refused with the names that exist.
func TestUnknownColumnIsRefused(t *testing.T) {
	doc := read(t, "failed")
	err := CheckColumns(doc, []string{"bandwidth", "bandwith"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`"bandwith"`, `did you mean "bandwidth"?`, "block_size", "latency.p50", "verdict"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if CheckColumns(doc, []string{"bandwith.ci"}) == nil {
		t.Error("the interval of an unknown metric is accepted")
	}
}

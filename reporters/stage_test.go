package reporters

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

func TestReportsShowRunsUnderTheirStages(t *testing.T) {
	doc := &results.Document{Session: results.Session{Status: results.Passed}}
	for _, c := range []struct{ run, stage string }{{"a", "2 NIXL"}, {"b", ""}, {"c", "1 base"}, {"d", "2 NIXL"}} {
		doc.Cases = append(doc.Cases, &results.Case{
			Key: c.run, Run: c.run, Stage: c.stage, Workload: "transfer", Status: results.OK,
		})
	}
	heads := func(write func(*bytes.Buffer) error, is func(line string) bool) []string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		var out []string
		for line := range strings.SplitSeq(b.String(), "\n") {
			if is(line) {
				out = append(out, line)
			}
		}
		return out
	}
	got := heads(func(b *bytes.Buffer) error { return Table(b, doc, Look{}) }, func(line string) bool {
		return len(line) == 1 || strings.HasPrefix(line, "stage ")
	})
	if want := []string{"b", "stage 2 NIXL", "a", "d", "stage 1 base", "c"}; !slices.Equal(got, want) {
		t.Errorf("table: %q, want %q", got, want)
	}
	got = heads(func(b *bytes.Buffer) error { return Markdown(b, doc) },
		func(line string) bool { return strings.HasPrefix(line, "##") })
	if want := []string{"## b", "## Stage 2 NIXL", "### a", "### d", "## Stage 1 base", "### c"}; !slices.Equal(got,
		want) {
		t.Errorf("markdown: %q, want %q", got, want)
	}
	page := parsePage(t, doc)
	got = nil
	for _, h := range page.all("h2") {
		got = append(got, h.text())
	}
	if i := slices.Index(got, "b"); i < 0 || !slices.Equal(got[i:i+3], []string{"b", "Stage 2 NIXL", "Stage 1 base"}) {
		t.Errorf("html: %q", got)
	}
	if got := page.id(t, "run-3").all("h3")[0].text(); got != "d" {
		t.Errorf("html: the third run is %q", got)
	}
}

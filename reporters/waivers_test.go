package reporters

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// withWaivers is a session with an assertion that is expected to fail, and a case that may fail.
func withWaivers(t *testing.T) *results.Document {
	t.Helper()
	doc := read(t, "several")
	for _, c := range doc.Cases {
		for _, a := range c.Assertions {
			if a.XFail != nil {
				a.XFail.Ceiling, a.XFail.Link = 0.6, "https://bugs.example/123"
			}
		}
	}
	doc.Cases[0].MayFail = &results.MayFail{MayFail: assertion.MayFail{
		XFail: assertion.XFail{Reason: "old driver", Until: "2026-12-31"}}}
	return doc
}

// What tells why and until when a failure is expected also tells up to which value.
func TestCeilingsAreTold(t *testing.T) {
	doc := withWaivers(t)
	for _, format := range []string{"table", "markdown", "comment", "junit", "github", "gitlab"} {
		text := strings.ReplaceAll(written(t, format, doc), "%25", "%") // of workflow commands
		if !strings.Contains(text, "expected to fail until 2027-01-31") ||
			!strings.Contains(text, "its ceiling is 60% beyond the bound") {
			t.Errorf("%s does not tell the ceiling:\n%s", format, text)
		}
	}
	without := read(t, "several")
	for _, format := range []string{"table", "markdown", "comment", "junit", "github", "gitlab"} {
		if text := written(t, format, without); strings.Contains(text, "its ceiling is") {
			t.Errorf("%s tells a ceiling that there is none of", format)
		}
	}
}

func TestTablesTellExpectedFailures(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(written(t, "csv", withWaivers(t)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], "xfail_reason")
	if at < 0 || !slices.Equal(rows[0][at:], waiverColumns) {
		t.Fatalf("columns %q", rows[0])
	}
	seen := map[string]bool{}
	for _, row := range rows[1:] {
		seen[strings.Join(row[at:], "|")] = true
	}
	for _, want := range []string{
		"bug 123, https://bugs.example/123|2027-01-31|0.6", "old driver|2026-12-31|", "||",
	} {
		if !seen[want] {
			t.Errorf("no row has %q: %v", want, seen)
		}
	}
	metrics := written(t, "openmetrics", withWaivers(t))
	for _, want := range []string{
		"# TYPE weir_xfail_until_timestamp_seconds gauge\n",
		`assertion="known",reason="bug 123, https://bugs.example/123",until="2027-01-31",xfail_ceiling="0.6"} 1801440000`,
		`reason="old driver",until="2026-12-31"} 1798761600` + "\n",
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %q in\n%s", want, metrics)
		}
	}
	if text := written(t, "openmetrics", read(t, "passed")); strings.Contains(text, "xfail_until") {
		t.Error("a session without expected failures has a gauge of them")
	}
}

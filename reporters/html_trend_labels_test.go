package reporters

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/history"
)

// Labels of sessions differ: sessions of one day have times, those of one second also names.
func TestPointLabels(t *testing.T) {
	points := func(times ...string) (out []history.Point) {
		for i, text := range times {
			at, err := time.Parse(time.DateTime, text)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, history.Point{Started: at, Session: string(rune('a' + i))})
		}
		return out
	}
	for _, c := range []struct {
		points []history.Point
		want   []string
	}{
		{points("2026-11-30 10:00:00", "2026-12-01 10:00:00"), []string{"2026-11-30", "2026-12-01"}},
		{points("2026-11-30 10:00:00", "2026-11-30 10:01:00"), []string{"10:00", "10:01"}},
		{points("2026-11-30 10:00:01", "2026-11-30 10:00:02"), []string{"10:00:01", "10:00:02"}},
		{
			points("2026-11-30 10:00:00", "2026-11-30 11:00:00", "2026-12-01 10:00:00"),
			[]string{"11-30 10:00", "11-30 11:00", "12-01 10:00"},
		},
		{points("2026-11-30 10:00:00", "2026-11-30 10:00:00"), []string{"10:00 a", "10:00 b"}},
	} {
		if got := pointLabels(c.points); !slices.Equal(got, c.want) {
			t.Errorf("labels are %q, want %q", got, c.want)
		}
	}
}

// A version has 12 digits of its commit, and nothing else that says the same.
func TestVersionText(t *testing.T) {
	const commit = "8affcc93e73f7faf05a2876eea6f4bf96f8c7239"
	for _, c := range [][3]string{
		{"(devel)", commit, "8affcc93e73f"}, {"1.0", commit, "1.0 8affcc93e73f"}, {"1.0", "", "1.0"}, {"", "", ""},
		{"v0.0.0-20261130181037-8affcc93e73f", commit, "8affcc93e73f"},
	} {
		if got := versionText(c[0], c[1]); got != c[2] {
			t.Errorf("%s %s is %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// Sessions on the page of a trend lead to their reports where these have addresses.
func TestTrendLeadsToSessions(t *testing.T) {
	var b strings.Builder
	to := Addresses{Session: func(file string) string { return "session?file=" + file }}
	doc := fallen()
	if err := TrendHTML(&b, doc, "./", to); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<a href="session?file=` + doc.Points[0].File + `">` + doc.Points[0].Session + "</a>",
		`<a href="./">all sessions`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q", want)
		}
	}
}

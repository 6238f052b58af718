package reporters

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// What no number of launches decides is not run again as it was: reports say what to change.
func TestAgainNamesTheChange(t *testing.T) {
	doc := read(t, "failed")
	var of *results.AssertionVerdict
	for _, c := range doc.Cases {
		for _, a := range c.Assertions {
			if a.Standing() == string(results.InconclusiveVerdict) && of == nil {
				of = a
			}
		}
	}
	of.Change = "set requests: 1000"
	const want = "first set requests: 1000"
	for _, name := range []string{"markdown", "html", "junit", "github"} {
		r, _ := Lookup(name)
		var b strings.Builder
		if err := r.Write(&b, doc); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
	var b strings.Builder
	if err := Table(&b, doc, Look{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "again: "+want) {
		t.Errorf("the table does not say %q:\n%s", want, b.String())
	}
}

// The flag --launches takes precedence over the scenario, so the advice is about the flag.
func TestAdviceAboutTheFlagOfTheSession(t *testing.T) {
	f := finding{standing: "inconclusive", assertion: &results.AssertionVerdict{Change: "set launches: 3 or more"}}
	f.place = "s.yaml:3"
	if got := remedy(f); got != "first set launches: 3 or more (s.yaml:3)" {
		t.Errorf("%q", got)
	}
	f.launches = launchesFlag(&results.Document{Session: results.Session{
		Again: []string{"weir", "run", "s.yaml", "--launches", "2"},
	}})
	if got := remedy(f); got != "without --launches 2, or with --launches 3 or more" {
		t.Errorf("%q", got)
	}
}

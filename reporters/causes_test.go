package reporters

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// What ended a session and all of its cases is reported once; what ended several cases and not the
// session is reported with the first, with one command for their run.
func TestACauseIsToldOnce(t *testing.T) {
	doc := func(session, reason string, keys ...string) *results.Document {
		d := &results.Document{Session: results.Session{Status: results.Error, Reason: session}}
		d.Scenario.File = "s.yaml"
		for _, k := range keys {
			d.Cases = append(d.Cases, &results.Case{
				Key: k, Run: "r", Workload: "transfer", Status: results.Error, Reason: reason,
			})
		}
		return d
	}
	for name, c := range map[string]struct {
		doc   *results.Document
		where []string
		says  string
		again string
	}{
		"of the session": {doc("missing: fabric nixl", "missing: fabric nixl", "a", "b", "c"),
			[]string{"session"}, "missing: fabric nixl; it ended 3 cases", ""},
		"of cases": {doc("", "no room", "a", "b", "c"), []string{"a and 2 more"}, "no room",
			"weir run 's.yaml' --only 'r'"},
		"of many": {doc("", "no room", "a", "b", "c", "d", "e"), []string{"a and 4 more"}, "no room",
			"weir run 's.yaml' --only 'r'"},
		"of one": {doc("", "no room", "a"), []string{"a"}, "no room", "weir run 's.yaml' --only 'a'"},
	} {
		fs := findings(c.doc, "error")
		if len(fs) != len(c.where) || fs[0].where != c.where[0] || !strings.Contains(fs[0].message, c.says) {
			t.Errorf("%s: %+v", name, fs)
			continue
		}
		if got := again(c.doc, fs[0]); got != c.again {
			t.Errorf("%s: again %q, want %q", name, got, c.again)
		}
	}
}

// Cases that failed in launches of their own have one cause if only the case, the launch, the rank and numbers in their
// logs differ. Another exit status, node or line of the log is another cause.
func TestCasesOfOneCauseAreToldTogether(t *testing.T) {
	of := func(key, cause string, log ...string) *results.Case {
		l := &results.Launch{Status: results.Error, Failure: &results.Failure{Cause: cause, Log: log}}
		return &results.Case{Key: key, Run: "r", Workload: "transfer", Status: results.Error, Reason: cause,
			Launches: []*results.Launch{l}}
	}
	first := of("r[n=1]", "launch 1: rank 0 on vm, phase run: exit status 3 in case r[n=1]",
		"[12.5] 0xa1: no transport")
	for name, c := range map[string]struct {
		other *results.Case
		where string
	}{
		"numbers": {of("r[n=2]", "launch 2: rank 1 on vm, phase run: exit status 3 in case r[n=2]",
			"[13.75] 0xb2: no transport"), "r[n=1] and 1 more"},
		"status": {of("r[n=2]", "launch 1: rank 0 on vm, phase run: exit status 4 in case r[n=2]",
			"[12.5] 0xa1: no transport"), "r[n=1]"},
		"node": {of("r[n=2]", "launch 1: rank 0 on vm2, phase run: exit status 3 in case r[n=2]",
			"[12.5] 0xa1: no transport"), "r[n=1]"},
		"log": {of("r[n=2]", "launch 1: rank 0 on vm, phase run: exit status 3 in case r[n=2]",
			"[12.5] 0xa1: no memory"), "r[n=1]"},
		"no log": {of("r[n=2]", "launch 1: rank 0 on vm, phase run: exit status 3 in case r[n=2]"), "r[n=1]"},
	} {
		fs := findings(&results.Document{Cases: []*results.Case{first, c.other}}, "error")
		if fs[0].where != c.where || len(fs[0].log) != 1 {
			t.Errorf("%s: %+v", name, fs)
		}
	}
}

// What a failed check or a missing host ended is reported once: by the check, and by the cases; there is no command
// for what must end as before.
func TestChecksAndMissingHostsAreToldOnce(t *testing.T) {
	check := results.Check{Name: "EFA", Node: "n", Status: "failed", Reason: "there is no program fi_info"}
	missing := "missing: nodes on distinct hosts (needed: 2, there: 1)"
	scaling := &results.AssertionVerdict{Verdict: results.ErrorVerdict}
	scaling.Message = "a: the case ended with an error: " + missing
	scaling.Cases = []string{"a", "b"}
	doc := &results.Document{
		Session: results.Session{Status: results.Error, Reason: check.Failed()}, Checks: []results.Check{check},
		Assertions: []*results.AssertionVerdict{scaling},
	}
	for _, key := range scaling.Cases {
		doc.Cases = append(doc.Cases, &results.Case{
			Key: key, Run: "r", Workload: "transfer", Status: results.Error, Reason: missing,
		})
	}
	fs := findings(doc, "error")
	if len(fs) != 2 || fs[0].where != "check EFA on n" || fs[1].where != "a and 1 more" || again(doc, fs[1]) != "" {
		t.Errorf("%+v; again: %s", fs, again(doc, fs[1]))
	}
	doc.Cases[1].Status, doc.Cases[1].Reason = results.OK, ""
	if fs = findings(doc, "error"); len(fs) != 3 {
		t.Errorf("an assertion over a case that is there: %+v", fs)
	}
}

// A cause that several assertions of several cases have in common is reported once, with how many they are and where.
func TestASharedCauseIsToldOnce(t *testing.T) {
	doc := &results.Document{Schema: results.Schema, Environment: results.Environment{Fingerprint: "here"}}
	low := 10.
	for i := range 6 {
		c := &results.Case{Key: fmt.Sprintf("a[i=%d]", i), Run: "a", Workload: "transfer", Status: results.OK}
		c.Launches = []*results.Launch{{Status: results.OK, Verified: true,
			Metrics: results.ValuesOf(map[string]float64{"bandwidth": 9.9})}}
		for _, name := range []string{"fast", "faster"} {
			c.Assertions = append(c.Assertions, &results.AssertionVerdict{Assertion: assertion.Assertion{
				Name: name, Text: name, Severity: assertion.Gate, Unit: "GB/s", Bounds: assertion.Bounds{Lower: &low},
				Subject:   &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
				Reference: &assertion.Reference{Table: "t", Environment: "there"},
			}})
		}
		doc.Cases = append(doc.Cases, c)
	}
	gate.Judge(doc)
	for _, format := range []string{"table", "markdown", "github"} {
		var b bytes.Buffer
		r, _ := Lookup(format)
		if err := r.Write(&b, doc); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); strings.Count(text, "12 assertions of 6 cases: the baseline or the table of expected values is of another"+
			" environment. Use one of this environment. The first, fast: ") != 1 ||
			strings.Count(text, "cross-environment") != 1 ||
			!strings.Contains(text, "and 2 more") {
			t.Errorf("%s: %s", format, text)
		}
	}
	for _, c := range doc.Cases { // as older versions wrote them
		for _, a := range c.Assertions {
			a.Reasons = nil
		}
	}
	if n := len(findings(doc, "error")); n != 12 {
		t.Errorf("%d findings without reasons", n)
	}
}

// An error of the session that names several hosts has a line for each.
func TestLinesOfTheSessionsError(t *testing.T) {
	doc := &results.Document{Schema: results.Schema, Session: results.Session{
		Status: results.Errored, ExitCode: 6,
		Reason: "starting agents over ssh failed on 2 hosts:\nh1: logging in: refused\nh2: logging in: no route",
	}}
	for format, want := range map[string]string{
		"table":    "over ssh failed on 2 hosts:\n    | h1: logging in: refused\n    | h2: logging in: no route\n",
		"markdown": "      h1: logging in: refused\n      h2: logging in: no route\n",
	} {
		if text := written(t, format, doc); !strings.Contains(text, want) {
			t.Errorf("%s has no\n%s\nin\n%s", format, want, text)
		}
	}
}

package reporters

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// expecting is a judged session of runs that may fail: one fails, one works, one fails after
// the last day.
func expecting(t *testing.T) *results.Document {
	t.Helper()
	started := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	launch := func() *results.Launch {
		return &results.Launch{
			Status: results.OK, Verified: true, Nodes: []string{"n"},
			Metrics: results.ValuesOf(map[string]float64{"bandwidth": 46}),
		}
	}
	bandwidth := func() *results.AssertionVerdict {
		low := 40.
		return &results.AssertionVerdict{Looks: []int{1}, Assertion: assertion.Assertion{
			Name: "bw", Text: "bandwidth >= 40 GB/s", Severity: assertion.Gate, Unit: "GB/s",
			Bounds:  assertion.Bounds{Lower: &low},
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
		}}
	}
	doc := &results.Document{
		Schema: results.Schema, Session: results.Session{ID: "s", Started: started},
		Scenario: results.Scenario{Name: "s"},
		Cases: []*results.Case{
			{Key: "fails", Run: "fails", Workload: "transfer", Status: results.Error, Reason: "launch 0: exit status 1",
				Launches: []*results.Launch{
					{
						Status: results.Error, Failure: &results.Failure{
							Cause: "exit status 1", Log: []string{"no etcd"},
						},
					},
				}},
			{
				Key: "works", Run: "works", Workload: "transfer", Status: results.OK,
				Launches: []*results.Launch{launch()},
			},
			{
				Key: "late", Run: "late", Workload: "transfer", Status: results.Error, Reason: "killed",
				Launches: []*results.Launch{},
			},
		},
	}
	for i, until := range []string{"2026-11-30", "2026-11-30", "2026-11-20"} {
		doc.Cases[i].MayFail = &results.MayFail{MayFail: assertion.MayFail{
			XFail: assertion.XFail{Reason: "issue 1044", Until: until}, Strict: true,
		}}
		doc.Cases[i].Assertions = []*results.AssertionVerdict{bandwidth()}
	}
	gate.Judge(doc)
	return doc
}

// Each case is one finding, whatever is asserted of it.
func TestCasesThatMayFailAreOneFindingEach(t *testing.T) {
	doc := expecting(t)
	for standing, says := range map[string]string{
		"xfail": "expected to fail until 2026-11-30 (issue 1044): the case ended with an error: launch 0: exit status 1",
		"xpass": "expected to fail until 2026-11-30 (issue 1044), but it works",
		"error": "the case ended with an error: killed; may_fail expired on 2026-11-20 (issue 1044)",
	} {
		fs := findings(doc, standing)
		if len(fs) != 1 || fs[0].message != says {
			t.Errorf("%s: %+v", standing, fs)
		}
	}
	if got := findings(doc, "xfail")[0].log; len(got) != 1 || got[0] != "no etcd" {
		t.Errorf("the log of the failed launch is %q", got)
	}
}

func TestReportsOfCasesThatMayFail(t *testing.T) {
	doc := expecting(t)
	for format, wants := range map[string][]string{
		"table": {"✓ xfail  fails", "✗ xpass  works", "! error  late", "cases: 1 xpass, 1 error, 1 xfail",
			"may_fail expired on 2026-11-20"},
		"markdown": {"## Passed against expectation", "1 case failed as expected",
			"| `fails` |  | expected to fail until 2026-11-30 (issue 1044)", "may_fail expired on 2026-11-20"},
		"html":   {"Failed as expected (1)", "Waiver no longer needed (1)", "may_fail expired on 2026-11-20"},
		"json":   {`"xfail": 1`, `"may_fail": {`},
		"github": {"::notice title=✓ xfail%3A fails::", "::error title=✗ xpass%3A works::"},
		"csv":    {"fails,error,xfail"},
	} {
		var b bytes.Buffer
		r, ok := Lookup(format)
		if !ok {
			t.Fatalf("there is no format %s", format)
		}
		if err := r.Write(&b, doc); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s does not say %q:\n%s", format, want, b.String())
			}
		}
	}
}

// An excused error is skipped with its reason, as are the assertions that could not be judged.
func TestJUnitOfCasesThatMayFail(t *testing.T) {
	s := parse(t, expecting(t))
	got := map[string]string{}
	for _, suite := range s.Suites {
		for _, c := range suite.Cases {
			what := "passed"
			switch {
			case len(c.Skipped) > 0:
				what = "skipped " + c.Skipped[0].Message
			case len(c.Failure) > 0:
				what = "failed " + c.Failure[0].Message
			case len(c.Error) > 0:
				what = "error " + c.Error[0].Message
			}
			got[c.Name] = what
		}
	}
	for name, want := range map[string]string{
		"fails bw":   "skipped xfail: expected to fail until 2026-11-30 (issue 1044): ",
		"fails runs": "skipped xfail: expected to fail until 2026-11-30 (issue 1044): the case ended with an error",
		"works bw":   "passed",
		"works runs": "failed expected to fail until 2026-11-30 (issue 1044), but it works",
		"late runs":  "error the case ended with an error: killed; may_fail expired on 2026-11-20",
	} {
		if !strings.HasPrefix(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}

// waived is a judged session of expectations to fail that are exceeded, expired or no longer needed, by name of
// the run.
func waived(t *testing.T) *results.Document {
	t.Helper()
	doc := expecting(t)
	doc.Session.Status, doc.Session.ExitCode, doc.Session.Reason = "", 0, ""
	doc.Cases = nil
	low := 40.
	for _, c := range []struct {
		run, until string
		bandwidth  float64
		ofRun      bool
		ceiling    float64
	}{
		{"run-works", "2026-11-30", 46, true, 0}, {"run-works-late", "2026-11-20", 46, true, 0},
		{"run-misses-late", "2026-11-20", 20, true, 0},
		{"holds", "2026-11-30", 46, false, 0}, {"holds-late", "2026-11-20", 46, false, 0},
		{"misses-late", "2026-11-20", 20, false, 0}, {"misses-far", "2026-11-30", 20, false, 0.1},
	} {
		of := &results.Case{Key: c.run, Run: c.run, Workload: "transfer", Status: results.OK}
		for i, factor := range []float64{1, 1.001, 0.999} {
			of.Launches = append(of.Launches, &results.Launch{
				Index: i, Status: results.OK, Verified: true, Nodes: []string{"n"},
				Metrics: results.ValuesOf(map[string]float64{"bandwidth": c.bandwidth * factor}),
			})
		}
		a := &results.AssertionVerdict{Looks: []int{3}, Assertion: assertion.Assertion{
			Name: "bw", Text: "bandwidth >= 40 GB/s", Severity: assertion.Gate, Unit: "GB/s",
			File: "s.yaml", Line: 7, Bounds: assertion.Bounds{Lower: &low},
			Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
		}}
		x := assertion.XFail{Reason: "issue 1044", Until: c.until, Ceiling: c.ceiling, Link: "example.com/1044"}
		if c.ofRun {
			of.MayFail = &results.MayFail{MayFail: assertion.MayFail{XFail: x}}
		} else {
			a.XFail = &x
		}
		of.Assertions = []*results.AssertionVerdict{a}
		doc.Cases = append(doc.Cases, of)
	}
	gate.Judge(doc)
	return doc
}

// Each format says of each expectation to fail that it is exceeded, has expired or is no longer needed.
func TestReportsSayWhichExpectationsHaveEnded(t *testing.T) {
	doc := waived(t)
	const until, late, why = "2026-11-30", "2026-11-20", "(issue 1044"
	wants := map[string]string{
		"run-works":       "may_fail until " + until + " " + why,
		"run-works-late":  "may_fail until " + late + " " + why,
		"run-misses-late": "may_fail expired on " + late + " " + why,
		"holds":           "expected to fail until " + until + " " + why,
		"holds-late":      "the expectation to fail until " + late + " " + why,
		"misses-late":     "the expectation to fail until " + late + " " + why,
		"misses-far":      "missed by more than the 10% that are expected " + why,
	}
	ends := map[string]string{
		"run-works": "is no longer needed: it works", "run-works-late": "is no longer needed: it works",
		"holds": ", but it holds", "holds-late": "has expired and is no longer needed: it holds",
		"misses-late": "has expired",
	}
	for _, format := range []string{"table", "markdown", "github", "junit", "html"} {
		var b bytes.Buffer
		r, _ := Lookup(format)
		if err := r.Write(&b, doc); err != nil {
			t.Fatal(err)
		}
		for run, want := range wants {
			text := strings.ReplaceAll(b.String(), "%25", "%") // of GitHub
			if !strings.Contains(text, run) || !strings.Contains(text, want) || !strings.Contains(text, ends[run]) {
				t.Errorf("%s of %s: no %q … %q", format, run, want, ends[run])
			}
		}
	}
}

// JUnit has the words at the test case, whatever its outcome.
func TestJUnitOfExpectationsThatHaveEnded(t *testing.T) {
	var b bytes.Buffer
	if err := JUnit(&b, waived(t)); err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for _, part := range strings.Split(b.String(), "<testcase ")[1:] {
		name, _, _ := strings.Cut(strings.SplitN(part, `name="`, 3)[2], `"`)
		of[name] = part
	}
	for name, want := range map[string][2]string{
		"run-works runs":      {"<system-out>info: may_fail", "is no longer needed"},
		"run-works-late runs": {"<system-out>info: may_fail", "is no longer needed"},
		"run-misses-late bw":  {"<failure ", "may_fail expired on 2026-11-20"},
		"holds bw":            {"<failure ", "but it holds"},
		"holds-late bw":       {"<system-out>info: ", "has expired and is no longer needed"},
		"misses-late bw":      {"<failure ", "has expired"},
		"misses-far bw":       {"<failure ", "missed by more than the 10%"},
	} {
		if !strings.Contains(of[name], want[0]) || !strings.Contains(of[name], want[1]) {
			t.Errorf("%s: no %q in %s", name, want, of[name])
		}
	}
}

// A may_fail is needed while one case of its run fails.
func TestAnExpectationThatOneCaseNeedsIsKept(t *testing.T) {
	doc := waived(t)
	other := *doc.Cases[0]
	other.Key, other.Status, other.Reason, other.Launches = "run-works[n=2]", results.Error, "exit status 1", nil
	other.MayFail = &results.MayFail{MayFail: other.MayFail.MayFail}
	doc.Cases = append(doc.Cases, &other)
	doc.Session.ExitCode = 0
	gate.Judge(doc)
	for _, f := range findings(doc, "info") {
		if f.where == "run-works" || strings.HasSuffix(f.where, " of run-works") {
			t.Errorf("it says %q", f.message)
		}
	}
}

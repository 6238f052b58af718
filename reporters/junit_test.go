package reporters

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// suites is JUnit as its consumers read it.
type suites struct {
	counters
	Suites []struct {
		counters
		Name   string   `xml:"name,attr"`
		Nested []string `xml:"testsuite"`
		Cases  []struct {
			Classname string   `xml:"classname,attr"`
			Name      string   `xml:"name,attr"`
			Time      string   `xml:"time,attr"`
			File      string   `xml:"file,attr"`
			Line      int      `xml:"line,attr"`
			Failure   []result `xml:"failure"`
			Error     []result `xml:"error"`
			Skipped   []result `xml:"skipped"`
		} `xml:"testcase"`
	} `xml:"testsuite"`
}

type counters struct {
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Errors   int     `xml:"errors,attr"`
	Skipped  int     `xml:"skipped,attr"`
	Time     float64 `xml:"time,attr"`
}

type result struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

func parse(t *testing.T, doc *results.Document) suites {
	t.Helper()
	var b bytes.Buffer
	if err := JUnit(&b, doc); err != nil {
		t.Fatal(err)
	}
	var s suites
	if err := xml.Unmarshal(b.Bytes(), &s); err != nil {
		t.Fatalf("the report is not XML: %v", err)
	}
	return s
}

func TestJUnitAddsUp(t *testing.T) {
	for _, name := range documents {
		s := parse(t, read(t, name))
		var all counters
		seen := map[string]bool{}
		for _, suite := range s.Suites {
			if suite.Name == "" || len(suite.Nested) > 0 {
				t.Errorf("%s: suite %q has nested suites or no name", name, suite.Name)
			}
			var sum counters
			for _, c := range suite.Cases {
				sum.Tests++
				sum.Failures += len(c.Failure)
				sum.Errors += len(c.Error)
				sum.Skipped += len(c.Skipped)
				if len(c.Failure)+len(c.Error)+len(c.Skipped) > 1 {
					t.Errorf("%s: %s has more than one outcome", name, c.Name)
				}
				sec, err := strconv.ParseFloat(c.Time, 64)
				if err != nil || strings.ContainsAny(c.Time, "eE") {
					t.Errorf("%s: time %q", name, c.Time)
				}
				sum.Time += sec
				if seen[c.Name] {
					t.Errorf("%s: two test cases are named %q", name, c.Name)
				}
				seen[c.Name] = true
				for _, r := range c.Name + c.Classname {
					if r >= 0x80 {
						t.Errorf("%s: %q is not ASCII", name, c.Name)
					}
				}
				if strings.Count(c.Classname, ".") != 2 {
					t.Errorf("%s: class name %q has not three levels", name, c.Classname)
				}
			}
			if diff := sum.Time - suite.Time; diff > 0.01 || diff < -0.01 {
				t.Errorf("%s: suite time %v, its cases %v", name, suite.Time, sum.Time)
			}
			all.Time += suite.Time
			sum.Time = suite.Time
			if sum != suite.counters {
				t.Errorf("%s: suite %s says %+v, its cases are %+v", name, suite.Name, suite.counters, sum)
			}
			all.Tests += sum.Tests
			all.Failures += sum.Failures
			all.Errors += sum.Errors
			all.Skipped += sum.Skipped
		}
		all.Time = s.Time
		if all != s.counters {
			t.Errorf("%s: the file says %+v, its suites are %+v", name, s.counters, all)
		}
	}
}

// The report is red exactly if the exit code is not 0.
func TestJUnitAgreesWithTheExitCode(t *testing.T) {
	for _, name := range documents {
		doc := read(t, name)
		s := parse(t, doc)
		if red := s.Failures+s.Errors > 0; red != (doc.Session.ExitCode != 0) {
			t.Errorf("%s: %d failures and %d errors with exit code %d", name, s.Failures, s.Errors,
				doc.Session.ExitCode)
		}
	}
}

func TestJUnitOutcomes(t *testing.T) {
	for _, c := range []struct {
		severity                assertion.Severity
		verdict                 results.Verdict
		failure, error, skipped string
	}{
		{assertion.Gate, results.Pass, "", "", ""},
		{assertion.Gate, results.Fail, "weir.assertion", "", ""},
		{assertion.Gate, results.XPass, "weir.assertion", "", ""},
		{assertion.Gate, results.XFail, "", "", ""},
		{assertion.Gate, results.InconclusiveVerdict, "", "weir.inconclusive", ""},
		{assertion.Gate, results.ErrorVerdict, "", "weir.error", ""},
		{assertion.Gate, results.SkippedVerdict, "", "", "why"},
		{assertion.Warn, results.WarnVerdict, "", "", ""},
		{assertion.Info, results.Fail, "", "", ""},
		{assertion.Info, results.ErrorVerdict, "", "", ""},
	} {
		doc := &results.Document{Cases: []*results.Case{{
			Key: "k", Run: "r", Status: results.OK,
			Assertions: []*results.AssertionVerdict{{
				Assertion: assertion.Assertion{
					Name: "a", File: "s.yaml", Line: 7, Severity: c.severity,
					XFail: &assertion.XFail{Reason: "r", Until: "2999-12-31"},
				},
				Observed: &results.Observed{Value: 1, N: 3},
				Verdict:  c.verdict, Message: "why",
			}},
		}}}
		x := parse(t, doc).Suites[0].Cases[0]
		kind := func(rs []result) string {
			if len(rs) == 0 {
				return ""
			}
			if rs[0].Message != "why" {
				t.Errorf("%s %s: message %q", c.severity, c.verdict, rs[0].Message)
			}
			return rs[0].Type
		}
		skipped := ""
		if len(x.Skipped) > 0 {
			skipped = x.Skipped[0].Message
		}
		if kind(x.Failure) != c.failure || kind(x.Error) != c.error || skipped != c.skipped {
			t.Errorf("%s %s is %+v", c.severity, c.verdict, x)
		}
		if x.File != "s.yaml" || x.Line != 7 {
			t.Errorf("%s %s is at %s:%d", c.severity, c.verdict, x.File, x.Line)
		}
	}
}

// A failure never makes the file larger than its consumers take.
func TestJUnitTextIsCapped(t *testing.T) {
	long := strings.Repeat("µ", textLimit)
	b := &junit{budget: textLimit + 100}
	first := b.result("weir.error", "m", long)
	if n := len(first.Text); n > textLimit+50 || !strings.HasSuffix(first.Text, "results.json has all") {
		t.Errorf("text of %d bytes", n)
	}
	if second := b.result("weir.error", "m", long); second.Text != "" || second.Message != "m" {
		t.Errorf("the budget is spent, yet there is text of %d bytes", len(second.Text))
	}
}

// Names hold no values, so that history finds the same test again.
func TestJUnitNamesDoNotChangeWithTheNumbers(t *testing.T) {
	names := func(doc *results.Document) string {
		var out []string
		for _, s := range parse(t, doc).Suites {
			for _, c := range s.Cases {
				out = append(out, c.Name)
			}
		}
		return fmt.Sprint(out)
	}
	doc := read(t, "failed")
	before := names(doc)
	for _, a := range doc.AllAssertions() {
		a.Message, a.Verdict = "other", results.Pass
		a.Observed.Value *= 2
	}
	if after := names(doc); after != before {
		t.Errorf("names\n%s\nbecame\n%s", before, after)
	}
}

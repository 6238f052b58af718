package reporters

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// workflowCommand takes a line apart as GitHub's runner does (ActionCommand.cs of
// actions/runner): the name and its properties up to the next "::", properties at
// commas, names at the first "=".
func workflowCommand(line string) (level string, properties map[string]string, data string, ok bool) {
	line, ok = strings.CutPrefix(strings.TrimLeft(line, " \t"), "::")
	if !ok {
		return "", nil, "", false
	}
	info, data, ok := strings.Cut(line, "::")
	if !ok {
		return "", nil, "", false
	}
	level, list, _ := strings.Cut(info, " ")
	properties = map[string]string{}
	for _, p := range strings.Split(strings.TrimSpace(list), ",") {
		if name, value, ok := strings.Cut(p, "="); ok {
			for _, e := range [][2]string{{"%0D", "\r"}, {"%0A", "\n"}, {"%3A", ":"}, {"%2C", ","}, {"%25", "%"}} {
				value = strings.ReplaceAll(value, e[0], e[1])
			}
			properties[name] = value
		}
	}
	for _, e := range [][2]string{{"%0D", "\r"}, {"%0A", "\n"}, {"%25", "%"}} {
		data = strings.ReplaceAll(data, e[0], e[1])
	}
	return level, properties, data, true
}

func TestCommand(t *testing.T) {
	for _, c := range []struct {
		a    annotation
		want string
	}{
		{annotation{"s.yaml", 7, "t", "m"}, "::error file=s.yaml,line=7,title=t::m\n"},
		{annotation{"", 0, "t", "50% of\r\nit: a, b"}, "::error title=t::50%25 of%0D%0Ait: a, b\n"},
		{annotation{"a,b:c%.yaml", 1, "x::y", "::error::z"},
			"::error file=a%2Cb%3Ac%25.yaml,line=1,title=x%3A%3Ay::::error::z\n"},
		{annotation{"", 0, "", ""}, "::error ::\n"},
	} {
		if got := command("error", c.a); got != c.want {
			t.Errorf("%+v is %q, want %q", c.a, got, c.want)
		}
	}
}

func FuzzWorkflowCommand(f *testing.F) {
	f.Add("s.yaml", 7, "✗ fail: a[b=c]", "50% below\nagain: weir run 's.yaml'")
	f.Add("a::b", 0, "%0A%25,file=x", "::stop-commands::x\r\n::error ::y")
	f.Fuzz(func(t *testing.T, file string, line int, title, message string) {
		text := command("warning", annotation{file, line, title, message})
		if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") || strings.Contains(text, "\r") {
			t.Fatalf("not one line: %q", text)
		}
		level, properties, data, ok := workflowCommand(strings.TrimSuffix(text, "\n"))
		if !ok || level != "warning" || data != message {
			t.Fatalf("%q is read as level %q, data %q", text, level, data)
		}
		want := map[string]string{}
		if s := strings.TrimSpace(file); s != "" {
			want["file"] = s
		}
		if line > 0 {
			want["line"] = strconv.Itoa(line)
		}
		if s := strings.TrimSpace(title); s != "" {
			want["title"] = s
		}
		if fmt.Sprint(properties) != fmt.Sprint(want) {
			t.Fatalf("%q is read as %q, want %q", text, properties, want)
		}
	})
}

// broken is a session of this number of cases, each with a gate that missed its bound of
// 10 by more than the one before, one that is undecided, and a remark.
func broken(n int) *results.Document {
	doc := &results.Document{Scenario: results.Scenario{File: "s.yaml"}}
	bound := 10.
	verdict := func(v results.Verdict, severity assertion.Severity, observed float64) *results.AssertionVerdict {
		return &results.AssertionVerdict{
			Assertion: assertion.Assertion{
				Name: string(v), File: "s.yaml", Line: 3, Severity: severity, Bounds: assertion.Bounds{Lower: &bound},
			},
			Verdict: v, Message: "why", Observed: &results.Observed{Value: observed},
		}
	}
	for i := range n {
		doc.Cases = append(doc.Cases, &results.Case{Key: fmt.Sprintf("c%d", i), Run: "r", Status: results.OK,
			Assertions: []*results.AssertionVerdict{
				verdict(results.Fail, assertion.Gate, 9-float64(i)/100),
				verdict(results.InconclusiveVerdict, assertion.Gate, 10), verdict(results.Fail, assertion.Info, 9),
			}})
		doc.Cases[i].Assertions[1].Text = fmt.Sprintf(
			"open %d",
			i,
		) // one assertion that is open in many cases is reported once
	}
	return doc
}

// An error of a case is reported at the line of its run, one of the session at the file.
func TestErrorsOfCasesHaveALine(t *testing.T) {
	doc := &results.Document{Schema: results.Schema, Scenario: results.Scenario{File: "s.yaml"},
		Cases: []*results.Case{
			{Key: "a", Run: "a", Status: results.Error, Reason: "it broke", File: "part.yaml", Line: 7},
		}}
	if got, want := written(t, "github", doc), "::error file=part.yaml,line=7,"; !strings.HasPrefix(got, want) {
		t.Errorf("%q", got)
	}
}

// No level has more annotations than GitHub shows, the last says how many there
// are besides, and nothing is counted twice or left out.
// A green session whose assertions are all skipped gates nothing, which is a warning; one that was judged is none.
func TestNothingJudgedIsAWarning(t *testing.T) {
	skipped := func() *results.AssertionVerdict {
		a := &results.AssertionVerdict{Verdict: results.SkippedVerdict, Message: "no baseline"}
		a.Text = "x > 1"
		return a
	}
	c := &results.Case{Key: "a", Status: results.OK}
	c.Assertions = []*results.AssertionVerdict{skipped(), skipped()}
	doc := &results.Document{Cases: []*results.Case{c}}
	written := func() string {
		doc.Summarize()
		var b strings.Builder
		if err := GitHub(&b, doc); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := written(); got != "::warning title=weir::no assertion was judged: x > 1: no baseline (2 cases)\n" {
		t.Errorf("%q", got)
	}
	doc.Cases[0].Assertions[1].Verdict = results.Pass
	if got := written(); got != "" {
		t.Errorf("%q", got)
	}
}

func TestAnnotationsAreCapped(t *testing.T) {
	for _, n := range []int{1, 9, 10, 11, 37} {
		lines := strings.Split(strings.TrimSuffix(written(t, "github", broken(n)), "\n"), "\n")
		var levels []string
		count := map[string]int{}
		for _, line := range lines {
			level, _, data, ok := workflowCommand(line)
			if !ok {
				t.Fatalf("not a command: %q", line)
			}
			if count[level]++; count[level] == 1 {
				levels = append(levels, level)
			}
			if summed := n > annotations && count[level] == annotations; summed != strings.HasPrefix(data,
				"not shown here: ") {
				t.Errorf("%d cases: annotation %d of level %s is %q", n, count[level], level, data)
			} else if summed && !strings.Contains(data, fmt.Sprintf(": %d ", n-annotations+1)) {
				t.Errorf("%d cases: %q", n, data)
			}
		}
		if fmt.Sprint(levels) != "[error warning notice]" {
			t.Errorf("levels in order %v", levels)
		}
		for _, level := range levels {
			if want := min(n, annotations); count[level] != want {
				t.Errorf("%d cases: %d annotations of level %s, want %d", n, count[level], level, want)
			}
		}
		_, first, _, _ := workflowCommand(lines[0])
		if want := fmt.Sprintf("✗ fail: c%d fail", n-1); first["title"] != want {
			t.Errorf("the first is %q, and what misses by most is %q", first["title"], want)
		}
	}
}

// The levels follow what counts: an error exactly if the session has failed or is
// in error, and at least a warning if a gate is undecided.
func TestAnnotationsAgreeWithTheExitCode(t *testing.T) {
	for _, name := range documents {
		doc := read(t, name)
		text := written(t, "github", doc)
		red, yellow := strings.HasPrefix(text, "::error ") || strings.Contains(text, "\n::error "),
			strings.Contains(text, "::warning ")
		if want := doc.Session.ExitCode != 0 && doc.Session.ExitCode != 3; red != want {
			t.Errorf("%s: exit code %d and errors: %v", name, doc.Session.ExitCode, red)
		}
		if doc.Session.ExitCode == 3 && !yellow {
			t.Errorf("%s: exit code 3 without a warning", name)
		}
	}
}

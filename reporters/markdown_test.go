package reporters

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// large is a session of many cases, each with a failure that has much to say.
func large(cases int, run func(i int) string) *results.Document {
	doc := &results.Document{
		Scenario: results.Scenario{Name: "large"}, Session: results.Session{Status: results.Failed, ExitCode: 1},
	}
	for i := range cases {
		doc.Cases = append(doc.Cases, &results.Case{
			Key: fmt.Sprintf("%s[i=%d]", run(i), i), Run: run(i), Status: results.OK,
			Axes: map[string]any{"i": int64(i)}, AxisOrder: []string{"i"},
			Assertions: []*results.AssertionVerdict{{
				Assertion: assertion.Assertion{Name: "a", Severity: assertion.Gate}, Verdict: results.Fail,
				Message: strings.Repeat("words ", 20),
			}},
		})
	}
	doc.Summarize()
	return doc
}

func TestMarkdownStaysWithinItsBudget(t *testing.T) {
	for name, run := range map[string]func(int) string{
		"one run":    func(int) string { return "run" },
		"many runs":  func(i int) string { return fmt.Sprintf("run%d", i) },
		"long names": func(i int) string { return strings.Repeat("x", i%4000) },
	} {
		doc := large(20000, run)
		got := markdown(doc, markdownBudget)
		if len(got) > markdownBudget {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		if len(got) < markdownBudget/2 {
			t.Errorf("%s: only %d bytes of what fits", name, len(got))
		}
		if !strings.Contains(got, "rows omitted; results.json has all") {
			t.Errorf("%s: does not say that rows are omitted", name)
		}
		if n := strings.Count(got, "<details>"); n != strings.Count(got, "</details>") {
			t.Errorf("%s: a fold is not closed", name)
		}
	}
}

// A text of the scenario's author leaves room for what was found, however long it is.
func TestMarkdownBearsLongTexts(t *testing.T) {
	for _, text := range []string{strings.Repeat("*", markdownBudget), strings.Repeat("µ", markdownBudget)} {
		doc := large(3, func(int) string { return "run" })
		doc.Scenario.Name, doc.Scenario.Description, doc.Session.Resumed = text, text, text
		doc.Cases[0].Launches = []*results.Launch{{Resumed: true}}
		got := markdown(doc, markdownBudget)
		if len(got) > markdownBudget || !utf8.ValidString(got) {
			t.Errorf("%d bytes, valid: %v", len(got), utf8.ValidString(got))
		}
		if strings.Count(got, " …\n") != 3 || !strings.Contains(got, "## Failed") ||
			!strings.Contains(got, "`run[i=2]`") {
			t.Errorf("what was found is not there:\n%s", got[len(got)-2000:])
		}
	}
}

// Every row of a table has as many cells as its head, whatever the names.
func TestMarkdownTablesKeepTheirShape(t *testing.T) {
	for _, name := range documents {
		cells := 0
		for _, line := range strings.Split(markdown(read(t, name), markdownBudget), "\n") {
			if !strings.HasPrefix(line, "| ") {
				cells = 0
				continue
			}
			n := strings.Count(line, "|") - strings.Count(line, `\|`)
			if cells == 0 {
				cells = n
			}
			if n != cells {
				t.Errorf("%s: %d cells instead of %d: %s", name, n-1, cells-1, line)
			}
		}
	}
}

func TestMarkdownSaysWhatIsWrongFirst(t *testing.T) {
	got := markdown(read(t, "failed"), markdownBudget)
	last := -1
	for _, heading := range []string{
		"# ✗ failed", "## Failed", "## Inconclusive", "## Warnings", "## For information", "## bandwidth", "<details>",
	} {
		i := strings.Index(got, heading)
		if i <= last {
			t.Errorf("%q is at %d, after what it should precede", heading, i)
		}
		last = i
	}
}

func TestMarkdownEscapes(t *testing.T) {
	for in, want := range map[string]string{
		"a|b":          `a\|b`,
		"block_size=1": "block_size=1",
		"_em_ *b*":     `\_em\_ \*b\*`,
		"<b>&amp;":     `\<b>\&amp;`,
		"[x](y) `c`":   "\\[x\\](y) \\`c\\`",
		"back\\slash":  `back\\slash`,
	} {
		if got := mdText(in); got != want {
			t.Errorf("mdText(%q) = %q, want %q", in, got, want)
		}
	}
}

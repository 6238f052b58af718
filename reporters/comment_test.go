package reporters

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
)

const pageOfTest = "https://ci.example/page (7)"

func commentText(t *testing.T, doc *results.Document, a Against) string {
	t.Helper()
	r, ok := Lookup("comment")
	if !ok {
		t.Fatal("there is no format comment")
	}
	var b bytes.Buffer
	if err := r.Compared(a, pageOfTest).Write(&b, doc); err != nil {
		t.Fatal(err)
	}
	wholeComment(t, b.String())
	return b.String()
}

// wholeComment fails for a comment that is too long, that leaves a folded part open, that cuts a row of a
// table, or that does not end with the link outside of all parts.
func wholeComment(t *testing.T, text string) {
	t.Helper()
	if len(text) > commentBudget {
		t.Errorf("%d bytes", len(text))
	}
	open, columns := 0, 0
	for line := range strings.Lines(text) {
		markup := strings.ReplaceAll(line, `\<`, "")
		open += strings.Count(markup, "<details>") - strings.Count(markup, "</details>")
		if open < 0 || open > 1 || strings.Contains(markup, "<details>") && !strings.HasSuffix(line, "</summary>\n") {
			t.Fatalf("folded parts do not match at %q", line)
		}
		bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		switch {
		case !strings.HasPrefix(line, "| "):
			columns = 0
		case columns == 0:
			columns = bars
		case bars != columns:
			t.Errorf("a row of %d bars in a table of %d: %q", bars, columns, line)
		}
	}
	if open != 0 || !strings.HasSuffix(text, "\n[The page with all charts](https://ci.example/page%20%287%29)\n") {
		t.Errorf("%d parts are open at the end: %q", open, text[max(0, len(text)-200):])
	}
}

func TestACommentComparesFirst(t *testing.T) {
	for _, name := range comparisons {
		text := commentText(t, read(t, "failed"), Against{Comparison: readComparison(t, name)})
		golden.Equal(t, filepath.Join("testdata", "comparison", name+".comment.md"), []byte(text))
		compared, failed := strings.Index(text, "Against the baseline"), strings.Index(text, "#### Failed")
		if compared < 0 || failed < compared {
			t.Errorf("%s: the comparison is at %d, failures at %d", name, compared, failed)
		}
	}
	without := commentText(t, read(t, "passed"), Against{Lacking: "There is no baseline."})
	if !strings.Contains(without, "There is no baseline.") || strings.Contains(without, "Against") {
		t.Error(without)
	}
}

// manyChanges is a comparison of some cases that all got worse, with long names.
func manyChanges(t *testing.T, n int) *results.Comparison {
	t.Helper()
	c := readComparison(t, "sessions")
	i := 0
	for c.Effects[i].Verdict != results.Regression {
		i++
	}
	e := *c.Effects[i]
	for i := range n {
		one := e
		one.Case = fmt.Sprintf("bandwidth[block_size=%dKiB,%s]", i, strings.Repeat("<details>|`", 40))
		c.Effects = append(c.Effects, &one)
		c.Differences = append(c.Differences, results.Difference{What: strings.Repeat("x", 500), Base: "a", New: "b"})
	}
	return c
}

func TestACommentOfManyCasesFits(t *testing.T) {
	doc := sized(2000)
	doc.Session.Argv = []string{"weir", strings.Repeat("`long` ", 5000)}
	for i, c := range doc.Cases {
		for _, a := range c.Assertions {
			a.Message = fmt.Sprintf("case %d: %s", i, strings.Repeat("<details> | ` *why* ", 200))
		}
	}
	for name, a := range map[string]Against{"alone": {}, "compared": {Comparison: manyChanges(t, 2000)}} {
		t.Run(name, func(t *testing.T) {
			text := commentText(t, doc, a)
			if n := strings.Count(text, "\n- ✗ fail"); n < 10 || n > mostFailures {
				t.Errorf("%d failures", n)
			}
			if !strings.Contains(text, " more failed; ") ||
				!strings.Contains(text, "rows omitted; results.json has all") {
				t.Error("the comment does not tell what it omits")
			}
			if name == "compared" && strings.Count(text, "✗ regression") < 10 {
				t.Error("regressions do not come first")
			}
		})
	}
}

// A failure has its cause and the end of its log, in short.
func TestACommentTellsCauses(t *testing.T) {
	doc := read(t, "aborted")
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			if l.Failure != nil {
				l.Failure.Log = append(l.Failure.Log, strings.Repeat("y", 100_000))
			}
		}
	}
	text := commentText(t, doc, Against{})
	if !strings.Contains(text, "#### Failed") || !strings.Contains(text, "- ! error") {
		t.Error(text)
	}
}

// A link is one of the web.
func TestACommentLinksOnlyToPages(t *testing.T) {
	for text, want := range map[string]string{
		"https://x.example/a?b=(c)": "https://x.example/a?b=%28c%29", "javascript:alert(1)": "", "": "",
		"https://x.example/a\nb": "",
	} {
		if got := linkTo(text); got != want {
			t.Errorf("%q links to %q, want %q", text, got, want)
		}
	}
}

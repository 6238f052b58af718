package reporters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/golden"
)

// comparisons are of two sessions on machines that differ, with every verdict but
// improved, of two values of an axis that took turns, and of cases that moved together but for one.
var comparisons = []string{"sessions", "axis", "shift"}

func readComparison(t *testing.T, name string) *results.Comparison {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "comparison", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var c results.Comparison
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	encoded, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encoded, b) {
		t.Errorf("%s is not written as it was read", name)
	}
	return &c
}

func comparisonText(t *testing.T, c *results.Comparison, color bool, width int) string {
	t.Helper()
	var b bytes.Buffer
	if err := ComparisonText(&b, c, color, width); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoldenComparisons(t *testing.T) {
	for _, name := range comparisons {
		c := readComparison(t, name)
		golden.Equal(t, filepath.Join("testdata", "comparison", name+".txt"), []byte(comparisonText(t, c, false, 0)))
		var b bytes.Buffer
		if err := ComparisonMarkdown(&b, c); err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, filepath.Join("testdata", "comparison", name+".md"), b.Bytes())
		if got := comparisonText(t, c, true, 0); text.StripEscape(got) != comparisonText(t, c, false, 0) ||
			!strings.Contains(got, "\x1b[") {
			t.Error("colour changes more than colour, or nothing")
		}
	}
}

func TestComparisonFitsItsTerminal(t *testing.T) {
	c := readComparison(t, "sessions")
	for _, width := range []int{120, 100, 80} {
		report := comparisonText(t, c, false, width)
		for _, line := range tables(report) {
			if n := text.StringWidthWithoutEscSequences(line); n > width {
				t.Errorf("a line of %d columns in a terminal of %d: %s", n, width, line)
			}
		}
		for _, always := range []string{"change", "verdict", "regression", "exit code 6"} {
			if !strings.Contains(strings.Join(strings.Fields(report), " "), always) {
				t.Errorf("%s is gone at %d columns", always, width)
			}
		}
		for line := range strings.Lines(report) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns in %d: %s", n, width, line)
			}
		}
	}
}

// Keys of cases that do not fit beside their changes are lines above them.
func TestComparisonOfLongKeysFits(t *testing.T) {
	c := readComparison(t, "sessions")
	key := "a-run-of-a-long-name[batch=1,block_size=1MiB,op=write,sim_latency=25us]"
	for _, e := range c.Effects {
		e.Case = key
	}
	report := comparisonText(t, c, false, 80)
	for line := range strings.Lines(report) {
		if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(report, "\n"+key+"\n  ") {
		t.Errorf("no line for the case in\n%s", report)
	}
}

// A comparison of any size stays within the budget of a job summary, counts what it
// leaves out, and neither steers a terminal nor breaks its table.
func TestLargeAndHostileComparison(t *testing.T) {
	c := readComparison(t, "sessions")
	c.Effects[0].Case = "a|b\x1b[31m\n" + c.Effects[0].Case
	for i := range 20_000 {
		e := *c.Effects[0]
		e.Case += fmt.Sprint(i)
		c.Effects = append(c.Effects, &e)
		c.Differences = append(c.Differences, results.Difference{What: "env X" + fmt.Sprint(i), Base: "a\nb", New: "`"})
		c.OnlyBase = append(c.OnlyBase, results.LeftOver{Case: fmt.Sprint(i), Reason: "r"})
	}
	var b bytes.Buffer
	if err := ComparisonMarkdown(&b, c); err != nil {
		t.Fatal(err)
	}
	if b.Len() > markdownBudget || !strings.Contains(b.String(), "--format json has all") {
		t.Errorf("%d bytes", b.Len())
	}
	c.Effects = c.Effects[:1000] // a terminal has no budget
	plainText := comparisonText(t, c, false, 0)
	if strings.Contains(plainText+b.String(), "\x1b") || strings.Contains(b.String(), "| a|b") {
		t.Error("a name is not escaped")
	}
	if !strings.Contains(plainText, "and 19987 more; --format json has all") {
		t.Error("differences are not counted")
	}
}

package reporters

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// Whatever names, values, messages and logs hold, JUnit stays XML with counters that
// add up and Markdown tables keep their shape.
func TestNoNameBreaksAReport(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.Custom(func(t *rapid.T) string {
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) +
				rapid.StringOfN(rapid.RuneFrom([]rune("|`]>&\"\\\n\x1b[;m\x00\u202e\uffff日")), 0, 8, -1).Draw(t,
					"runes")
		})
		doc := &results.Document{Scenario: results.Scenario{Name: text.Draw(t, "scenario"), File: text.Draw(t, "file")}}
		for range rapid.IntRange(0, 3).Draw(t, "cases") {
			axis := text.Draw(t, "axis")
			doc.Cases = append(doc.Cases, &results.Case{
				Key: text.Draw(t, "key"), Run: text.Draw(t, "run"), Axes: map[string]any{axis: text.Draw(t, "value")},
				AxisOrder: []string{axis},
				Status:    rapid.SampledFrom([]string{results.OK, results.Error, results.Skipped}).Draw(t, "status"),
				Reason:    text.Draw(t, "reason"),
				Launches: []*results.Launch{
					{
						Status: results.Error, Failure: &results.Failure{
							Cause: text.Draw(t, "cause"), Log: []string{text.Draw(t, "log")},
						},
					},
				},
				Assertions: []*results.AssertionVerdict{{
					Assertion: assertion.Assertion{
						Name: text.Draw(t, "name"), Text: text.Draw(t, "text"), Severity: assertion.Gate,
					},
					Verdict: rapid.SampledFrom([]results.Verdict{results.Pass, results.Fail,
						results.ErrorVerdict}).Draw(t, "verdict"), Message: text.Draw(t, "message"),
				}},
			})
		}
		doc.Summarize()

		var b bytes.Buffer
		if err := JUnit(&b, doc); err != nil {
			t.Fatal(err)
		}
		tests := 0
		for dec := xml.NewDecoder(&b); ; {
			tok, err := dec.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("not XML: %v", err)
			}
			if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "testcase" {
				tests++
			}
		}
		if want := len(doc.Cases) + len(sessionErrors(doc)); tests != want {
			t.Fatalf("%d test cases for %d cases, want %d", tests, len(doc.Cases), want)
		}

		cells := 0
		for _, line := range strings.Split(markdown(doc, markdownBudget), "\n") {
			if !strings.HasPrefix(line, "| ") {
				cells = 0
				continue
			}
			n := strings.Count(strings.ReplaceAll(line, `\\`, ""),
				"|") - strings.Count(strings.ReplaceAll(line, `\\`, ""), `\|`)
			if cells == 0 {
				cells = n
			}
			if n != cells {
				t.Fatalf("%d cells instead of %d: %q", n-1, cells-1, line)
			}
		}
		if err := Table(io.Discard, doc, Look{Color: true, Width: 80}); err != nil {
			t.Fatal(err)
		}
	})
}

package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

func TestQuantifiers(t *testing.T) {
	in, out, open := inBand, outBand, []float64{41, 42, 43}
	for _, c := range []struct {
		name  string
		word  string
		lists [][]float64
		spoil func([]*results.Case)
		want  results.Verdict
		says  string
		more  string // cases that are asked for
	}{
		{"all hold", "all", [][]float64{in, in, in}, nil, results.Pass, "all of 3 parts: 3 pass", ""},
		{"one fails", "all", [][]float64{in, out, open}, nil, results.Fail, "all of 3 parts: 1 fail; c1: bandwidth",
			""},
		{"one is open", "all", [][]float64{in, open, in}, nil, results.InconclusiveVerdict, "1 inconclusive; c1", "c1"},
		{"one holds", "any", [][]float64{out, in, open}, nil, results.Pass, "any of 3 parts: 1 pass; c1", ""},
		{"none holds", "any", [][]float64{out, out, out}, nil, results.Fail, "3 fail", ""},
		{"some may hold", "any", [][]float64{out, open, out}, nil, results.InconclusiveVerdict, "c1", "c1"},
		{"one in error", "any", [][]float64{in, in, in}, func(cs []*results.Case) { cs[2].Status = results.Error },
			results.ErrorVerdict, "c2: the case ended with an error", ""},
		{"one skipped", "all", [][]float64{in, in, in}, func(cs []*results.Case) { cs[2].Status = results.Skipped },
			results.Pass, "all of 2 parts: 2 pass; c0: bandwidth", ""},
		{"one skipped, one fails", "all", [][]float64{out, in, in},
			func(cs []*results.Case) { cs[2].Status = results.Skipped }, results.Fail,
			"; 1 case did not run and does not count", ""},
		{"the one that holds is not skipped", "any", [][]float64{out, in, in},
			func(cs []*results.Case) { cs[2].Status = results.Skipped }, results.Pass, "any of 2 parts", ""},
		{"one not reached", "all", [][]float64{in, in, in},
			func(cs []*results.Case) { cs[2].Status, cs[2].Reason = results.Skipped, results.NotRun },
			results.SkippedVerdict, "c2: skipped", ""},
		{"one not reached, one fails", "all", [][]float64{in, out, in},
			func(cs []*results.Case) { cs[2].Status, cs[2].Reason = results.Skipped, results.NotRun }, results.Fail,
			"c1: bandwidth", ""},
		{"one left out by its author", "all", [][]float64{in, in, out},
			func(cs []*results.Case) { cs[2].Status = results.Excluded }, results.Pass, "all of 2 parts", ""},
		{"all left out", "all", [][]float64{in}, func(cs []*results.Case) { cs[0].Status = results.Excluded },
			results.SkippedVerdict, "none of its cases ran", ""},
		{"one not measured yet", "all", [][]float64{in, nil, in}, nil, results.ErrorVerdict, "c1: nothing was measured",
			"c1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cases, keys := series(c.lists...)
			if c.spoil != nil {
				c.spoil(cases)
			}
			a := known(0.003, quantified(c.word, p(41.832), looks, keys...))
			doc := docOf(cases...)
			doc.Assertions = []*results.AssertionVerdict{a}
			Judge(doc)
			wantVerdict(t, a, c.want)
			if !strings.Contains(a.Message, c.says) {
				t.Errorf("message %q does not say %q", a.Message, c.says)
			}
			if got := strings.Join(Undecided(doc), " "); got != c.more {
				t.Errorf("asks for launches of %q, want %q", got, c.more)
			}
		})
	}
}

// What a single band would refute is not refuted among many: one of twenty looks
// like it by chance. All of them pass at the usual confidence.
func TestAllDividesWhatFailingMaySpend(t *testing.T) {
	low := []float64{40, 41, 41.2} // below 41.832 at 50 %, and crossing at less
	single := band(p(43.5), nil, []int{3})
	judged(caseOf("c", low...), single)
	wantVerdict(t, single, results.Fail)
	lists := [][]float64{low}
	for range 19 {
		lists = append(lists, []float64{46, 46.1, 46.2})
	}
	cases, keys := series(lists...)
	a := quantified("all", p(43.5), []int{3}, keys...)
	doc := docOf(cases...)
	doc.Assertions = []*results.AssertionVerdict{a}
	Judge(doc)
	wantVerdict(t, a, results.InconclusiveVerdict)
	if !has(a.Reasons, "family-needs-to-fail shown=0.96 needed=0.998") {
		t.Errorf("message %q", a.Message)
	}
}

// The step-down is Holm's: the clearest at m, the next at m−1, until one does not fail.
func TestStepDown(t *testing.T) {
	for _, c := range []struct {
		limits []int
		m      int
		want   int
	}{
		{nil, 5, 5}, {[]int{5}, 5, 4}, {[]int{4}, 5, 5}, {[]int{4, 5}, 5, 3}, {[]int{1, 2, 3, 4, 5}, 5, 1},
		{[]int{5, 5, 5, 5, 5}, 5, 1}, {[]int{1, 5, 5}, 5, 3}, {[]int{3, 5, 5}, 5, 2},
	} {
		if got := stepDown(slices.Clone(c.limits), c.m); got != c.want {
			t.Errorf("stepDown(%v, %d) = %d, want %d", c.limits, c.m, got, c.want)
		}
	}
}

// Only assertions of one run, text and name are a family.
func TestFamiliesAreOfOneText(t *testing.T) {
	make := func(differ func(i int, c *results.Case, a *results.AssertionVerdict)) *results.Document {
		doc := docOf()
		for i := range 20 {
			c := caseOf(string(rune('a'+i)), 46, 46.1, 46.2)
			if i == 0 {
				c = caseOf("a", 40, 41, 41.2)
			}
			a := band(p(43.5), nil, []int{3})
			a.Multiple, a.Text = "holm", "t"
			differ(i, c, a)
			c.Assertions = []*results.AssertionVerdict{a}
			doc.Cases = append(doc.Cases, c)
		}
		Judge(doc)
		return doc
	}
	for name, c := range map[string]struct {
		differ func(i int, c *results.Case, a *results.AssertionVerdict)
		want   results.Verdict
	}{
		"one family": {func(int, *results.Case, *results.AssertionVerdict) {}, results.InconclusiveVerdict},
		"other runs": {func(i int, c *results.Case, _ *results.AssertionVerdict) { c.Run = string(rune('a' + i)) },
			results.Fail},
		"other texts": {func(i int, _ *results.Case, a *results.AssertionVerdict) { a.Text = string(rune('a' + i)) },
			results.Fail},
		"other names": {func(i int, _ *results.Case, a *results.AssertionVerdict) { a.Name = string(rune('a' + i)) },
			results.Fail},
		"not asked": {func(_ int, _ *results.Case, a *results.AssertionVerdict) { a.Multiple = "" }, results.Fail},
		"rest skipped": {func(i int, c *results.Case, _ *results.AssertionVerdict) {
			c.Status = []string{results.OK, results.Skipped}[min(i, 1)]
		}, results.Fail},
	} {
		if got := make(c.differ).Cases[0].Assertions[0]; got.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", name, got.Verdict, c.want, got.Message)
		}
	}
}

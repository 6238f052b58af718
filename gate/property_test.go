package gate

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// session draws a document with bands, one-sided bounds, expressions and trends
// over cases of all states.
func drawDocument(t *rapid.T) *results.Document {
	subjects := []*assertion.Expr{
		metric("bandwidth", "GB/s"),
		{Op: assertion.Div, Args: []*assertion.Expr{metric("bandwidth", "GB/s"), metric("ceiling.bandwidth", "GB/s")}},
		{Op: assertion.Sub, Args: []*assertion.Expr{metric("ceiling.bandwidth", "GB/s"), metric("bandwidth", "GB/s")}},
	}
	units := []string{"GB/s", "", "GB/s"}
	doc := docOf()
	var keys []string
	n := rapid.IntRange(1, 4).Draw(t, "cases")
	launches := rapid.IntRange(1, 12).Draw(t, "launches")
	for i := range n {
		values := rapid.SliceOfN(rapid.Float64Range(1, 100), launches, launches).Draw(t, "values")
		c := caseOf(string(rune('a'+i)), values...)
		for _, l := range c.Launches {
			l.Metrics.Set("ceiling.bandwidth", rapid.Float64Range(50, 120).Draw(t, "ceiling"))
		}
		k := rapid.IntRange(0, len(subjects)-1).Draw(t, "subject")
		a := band(p(rapid.Float64Range(0, 60).Draw(t, "lower")), nil, looks)
		if rapid.Bool().Draw(t, "two-sided") {
			a.Bounds.Upper = p(*a.Bounds.Lower + 40)
		}
		a.Subject, a.Unit = subjects[k], units[k]
		a.Severity = rapid.SampledFrom([]assertion.Severity{assertion.Gate, assertion.Warn, assertion.Info}).Draw(t,
			"severity")
		c.Assertions = []*results.AssertionVerdict{a}
		if i > 0 {
			c.Assertions = append(c.Assertions, against(keys[i-1], p(rapid.Float64Range(0, 2).Draw(t, "ratio")), nil,
				looks))
		}
		for _, a := range c.Assertions {
			a.Text = "as drawn"
			a.Multiple = rapid.SampledFrom([]string{"", "holm"}).Draw(t, "multiple")
			a.Halo = rapid.SampledFrom([]float64{0, 0.05}).Draw(t, "halo")
			if rapid.Bool().Draw(t, "decided") {
				a.Decide = &assertion.Decide{
					Confidence: rapid.Float64Range(0.6, 0.99).Draw(t, "confidence"), OnInconclusive: "warn",
				}
			}
		}
		doc.Cases = append(doc.Cases, c)
		keys = append(keys, c.Key)
	}
	if rapid.Bool().Draw(t, "started") {
		var order []int
		for range launches {
			order = append(order, rapid.Permutation(indexes(n)).Draw(t, "order")...)
		}
		began(order, doc.Cases...)
	}
	if n > 1 {
		direction := rapid.SampledFrom([]string{"increases", "decreases"}).Draw(t, "direction")
		doc.Assertions = []*results.AssertionVerdict{
			trend(direction, rapid.Float64Range(0, 0.5).Draw(t, "tolerance"), looks, keys...),
		}
	}
	word := rapid.SampledFrom([]string{"all", "any"}).Draw(t, "quantifier")
	doc.Assertions = append(doc.Assertions,
		quantified(word, p(rapid.Float64Range(0, 60).Draw(t, "each")), looks, keys...))
	return doc
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// statement is all that the gate says.
type statement struct {
	Verdicts  []results.AssertionVerdict
	Metrics   []map[string]results.MetricEstimate
	Undecided []string
	Summary   results.Summary
	Exit      int
}

func judgeAll(doc *results.Document) statement {
	Judge(doc)
	s := statement{Undecided: Undecided(doc), Summary: doc.Summary, Exit: doc.Session.ExitCode}
	for _, a := range doc.AllAssertions() {
		s.Verdicts = append(s.Verdicts, *a)
	}
	for _, c := range doc.Cases {
		s.Metrics = append(s.Metrics, maps.Collect(c.Metrics.All()))
	}
	return s
}

func TestReorderingLaunchesChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		before := judgeAll(doc)
		for _, c := range doc.Cases {
			c.Launches = rapid.Permutation(c.Launches).Draw(t, "order")
		}
		if diff := cmp.Diff(before, judgeAll(doc)); diff != "" {
			t.Fatalf("another order gives another answer:\n%s", diff)
		}
	})
}

// Numbering the launches of a case differently changes no verdict of its own either.
func TestRenumberingLaunchesChangesNoBand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		doc.Assertions = nil
		for _, c := range doc.Cases {
			c.Assertions = c.Assertions[:1] // launches of one number may be pairs in those over several cases
			c.Assertions[0].Looks = nil     // the first look that decides has the launches of the lowest numbers
		}
		before := judgeAll(doc)
		for _, c := range doc.Cases {
			order := rapid.Permutation(slices.Clone(c.Launches)).Draw(t, "order")
			for i, l := range order {
				l.Index = i
			}
		}
		after := judgeAll(doc)
		for i := range before.Verdicts {
			if before.Verdicts[i].Verdict != after.Verdicts[i].Verdict {
				t.Fatalf("%s became %s", before.Verdicts[i].Message, after.Verdicts[i].Message)
			}
		}
	})
}

func TestWrittenAndReadBackIsJudgedTheSame(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		doc := drawDocument(rt)
		if rapid.Bool().Draw(rt, "damaged") {
			doc.Cases[0].Launches[0].Metrics.Set("bandwidth",
				rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0}).Draw(rt, "value"))
		}
		before := judgeAll(doc)
		path := filepath.Join(dir, "results.json")
		if err := doc.Write(path); err != nil {
			rt.Fatal(err)
		}
		back, err := results.Read(path)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(before, judgeAll(back)); diff != "" {
			rt.Fatalf("judged offline:\n%s", diff)
		}
	})
}

func TestDeletedMetricNeverPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := drawDocument(t)
		c := rapid.SampledFrom(doc.Cases).Draw(t, "case")
		used := append(slices.Clone(c.Assertions), doc.Assertions...)
		a := rapid.SampledFrom(used).Draw(t, "assertion")
		rapid.SampledFrom(c.Launches).Draw(t,
			"launch").Metrics.Delete(rapid.SampledFrom(metricsOf(a)).Draw(t, "metric"))
		Judge(doc)
		if a.Verdict != results.ErrorVerdict {
			t.Fatalf("%s: %s", a.Verdict, a.Message)
		}
	})
}

func metricsOf(a *results.AssertionVerdict) []string {
	if a.Subject == nil {
		return a.Parts[0].Subject.Metrics()
	}
	return a.Subject.Metrics()
}

// A document that passes and from which something is taken out passes no more:
// the gate says so, or the number of cases that the plan has does.
func TestWhatIsTakenOutNeverPasses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc, a := regression(nil, []float64{10, 10.01})
		doc.Cases = nil
		n := rapid.SampledFrom([]int{3, 5, 12}).Draw(t, "launches")
		steady := slices.Repeat([]float64{10}, n)
		for _, key := range []string{"a", "b", "c"} {
			c := caseOf(key, steady...)
			c.Assertions = []*results.AssertionVerdict{band(p(7), nil, looks)}
			doc.Cases = append(doc.Cases, c)
		}
		doc.Plan.Cases = 3
		doc.Cases[0].Assertions = append(doc.Cases[0].Assertions, against("b", p(0.7), nil, looks))
		a.Bounds.Lower = p(0.7)
		doc.Cases[2].Assertions = append(doc.Cases[2].Assertions, a)
		doc.Assertions = []*results.AssertionVerdict{
			quantified("all", p(7), looks, "a", "b", "c"), quantified("any", p(7), looks, "a", "b"),
		}
		Judge(doc)
		if doc.Session.ExitCode != ExitPassed {
			t.Fatalf("exit code %d before: %v", doc.Session.ExitCode, doc.Summary)
		}
		k := rapid.IntRange(0, 2).Draw(t, "case")
		c := doc.Cases[k]
		i := rapid.IntRange(0, n-1).Draw(t, "launch")
		what := rapid.SampledFrom([]string{"case", "launch", "metric", "baseline", "stored case", "stored metric",
			"subject", "bounds", "parts", "part's case"}).Draw(t, "what")
		switch what {
		case "case":
			doc.Cases = slices.Delete(doc.Cases, k, k+1)
		case "launch": // without the last one the first look is what it was
			i = rapid.IntRange(0, max(2, n-2)).Draw(t, "lost launch")
			c.Launches = slices.Delete(c.Launches, i, i+1)
		case "metric":
			c.Launches[i].Metrics.Delete("bandwidth")
		case "baseline":
			doc.Baseline = nil
		case "stored case":
			doc.Baseline.Cases = nil
		case "stored metric":
			doc.Baseline.Cases[0].Launches[1].Delete("bandwidth")
		case "subject":
			c.Assertions[0].Subject = nil
		case "bounds":
			c.Assertions[0].Bounds = assertion.Bounds{}
		case "parts":
			doc.Assertions[0].Parts = nil
		case "part's case":
			doc.Assertions[1].Parts[1].Case = ""
		}
		Judge(doc)
		if doc.Session.ExitCode == ExitPassed && (what != "case" || len(doc.Cases) == doc.Plan.Cases) {
			t.Fatalf("without its %s it still passes", what)
		}
	})
}

package gate

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"weir/assertion"
	"weir/results"
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
			l.Metrics["ceiling.bandwidth"] = rapid.Float64Range(50, 120).Draw(t, "ceiling")
		}
		k := rapid.IntRange(0, len(subjects)-1).Draw(t, "subject")
		a := band(p(rapid.Float64Range(0, 60).Draw(t, "lower")), nil, looks)
		if rapid.Bool().Draw(t, "two-sided") {
			a.Bounds.Upper = p(*a.Bounds.Lower + 40)
		}
		a.Subject, a.Unit = subjects[k], units[k]
		a.Severity = rapid.SampledFrom([]assertion.Severity{assertion.Gate, assertion.Warn, assertion.Info}).Draw(t, "severity")
		c.Assertions = []*results.AssertionVerdict{a}
		doc.Cases = append(doc.Cases, c)
		keys = append(keys, c.Key)
	}
	if n > 1 {
		direction := rapid.SampledFrom([]string{"increases", "decreases"}).Draw(t, "direction")
		doc.Assertions = []*results.AssertionVerdict{trend(direction, rapid.Float64Range(0, 0.5).Draw(t, "tolerance"), looks, keys...)}
	}
	return doc
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
		s.Metrics = append(s.Metrics, c.Metrics)
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
			doc.Cases[0].Launches[0].Metrics["bandwidth"] = rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0}).Draw(rt, "value")
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
		delete(rapid.SampledFrom(c.Launches).Draw(t, "launch").Metrics, rapid.SampledFrom(a.Subject.Metrics()).Draw(t, "metric"))
		Judge(doc)
		if a.Verdict != results.ErrorVerdict {
			t.Fatalf("%s: %s", a.Verdict, a.Message)
		}
	})
}

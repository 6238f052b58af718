package gate

import (
	"fmt"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
)

// meanOverMany is a mean over n cases that ran one after the other, in two rounds.
func meanOverMany(n int) *results.Document {
	mean := &assertion.Expr{Op: assertion.Mean}
	doc := docOf()
	for i := range n {
		c := caseOf(fmt.Sprint("c", i), 10, 10.1, 9.9, 10, 10.1)
		for j, l := range c.Launches {
			second := 3*i + j
			if j > 2 {
				second = 3*n + 2*i + j
			}
			l.Started = time.Date(2026, 11, 21, 10, 0, second, 0, time.UTC)
		}
		doc.Cases, mean.Args = append(doc.Cases, c), append(mean.Args, of(c.Key, "bandwidth", "GB/s"))
	}
	a := band(p(7), nil, looks)
	a.Subject = mean
	doc.Assertions = []*results.AssertionVerdict{a}
	return doc
}

// A mean over many cases takes a time that grows with their number, not with its square: each case allocates as much
// of many as of few.
func TestMeanOverManyCasesTakesLinearTime(t *testing.T) {
	phase.NotUnderRace(t)
	each := func(n int) float64 {
		doc := meanOverMany(n)
		return testing.AllocsPerRun(1, func() { Judge(doc) }) / float64(n)
	}
	if few, many := each(200), each(1600); many > 1.5*few {
		t.Errorf("a case of 200 takes %.0f allocations, one of 1600 %.0f", few, many)
	}
}

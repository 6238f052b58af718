package planner

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// warnShare warns of a share with a bound that all or no values meet, such as 90 where 90% is meant.
func (t *Table) warnShare(run *runTable, a *dsl.Assert, axes []int, of func(*row) *caseAssertions) {
	for r := range run.distinct(axes...) {
		lowered := of(r)
		if lowered == nil || lowered.Subject == nil || lowered.Subject.Op != assertion.Metric {
			continue
		}
		m, _ := run.run.Workload.Metric(lowered.Subject.Metric)
		largest := largestShare(run.run.Workload, m)
		if largest == 0 {
			continue
		}
		b, hint := lowered.Bounds, "Correct the bound."
		if n := endsWithNumber.FindStringSubmatch(a.Text); n != nil {
			hint = fmt.Sprintf("Write %s%%, or correct the bound.", n[1])
		}
		switch {
		case b.Lower != nil && *b.Lower > largest:
			t.warn(a.Range, "Bound of a share", fmt.Sprintf("%s is never as large as %s, so the assertion cannot hold.",
				m.Name, quantity.Percent(*b.Lower)), dsl.Hint(hint))
		case b.Upper != nil && *b.Upper >= largest && b.Lower == nil:
			t.warn(a.Range, "Bound of a share", fmt.Sprintf("%s is never above %s, so the assertion cannot fail.",
				m.Name, quantity.Percent(*b.Upper)), dsl.Hint(hint))
		default:
			continue
		}
		return
	}
}

// gainNumber matches a gain that is compared with a number, which may have a percent sign or a unit.
var gainNumber = regexp.MustCompile(
	`\bgain\([^()]*(?:\([^()]*\))*[^()]*\)\s*(?:[<>]=?|between)\s*(-?[0-9]+(?:\.[0-9]+)?)\s*([%*/a-zA-Z]*)`)

// leastRatio is the least number that is more likely a percentage than a ratio of new and old.
const leastRatio = 3

// warnGain warns of a gain with a bound of 100 % or more, or of -100 % or less, which most likely is one in percent or
// a ratio: 10, -5 or 1.05 where 10%, -5% or 5% is meant.
func (t *Table) warnGain(a *dsl.Assert) {
	n := gainNumber.FindStringSubmatch(a.Text)
	if n == nil || n[2] == "%" || n[2] == "*" || n[2] == "/" {
		return
	}
	times, _ := strconv.ParseFloat(n[1], 64) // of the expression
	if math.Abs(times) < 1 {
		return
	}
	hint := fmt.Sprintf("Write %s%%; for this gain write %s.", n[1], quantity.Percent(times))
	if times > 0 && times < leastRatio {
		hint = fmt.Sprintf("For %s times as much write %s; for this gain write %s.", n[1],
			quantity.Percent(quantity.Round(times-1)), quantity.Percent(times))
	}
	t.warn(a.Range, "Bound of a gain", fmt.Sprintf("A gain of %s is one of %s.", n[1], quantity.Percent(times)),
		dsl.Hint(hint))
}

// largestShare is the largest value of a metric that is a share, 0 for others. What is shown in percent without being
// a part of a whole may be above 100 %, but not twice as large.
func largestShare(k *workload.Kind, m workload.Metric) float64 {
	switch {
	case m.Unit == "" && strings.HasPrefix(m.Doc, "share of "):
		return 1
	case slices.ContainsFunc(k.Show.Columns, func(c workload.Column) bool { return c.Metric == m.Name && c.Percent }):
		return 2
	}
	return 0
}

package gate

import (
	"fmt"
	"math"
	"strings"

	"weir/assertion"
	"weir/results"
)

// miss says how far beyond an end of the bounds an estimate lies: from the target where the
// bounds are around one, else from that end. "" where both values of a ratio say it.
func (cl claim) miss(e estimate, s results.Scale, end float64, side string) string {
	switch _, _, both := cl.quotient(); {
	case both:
		return ""
	case cl.target != nil:
		return distance("; ", margin(s, e.center, *cl.target), " "+side+" the target "+cl.boundText(s, *cl.target))
	}
	return distance("; ", margin(s, e.center, end), " "+side)
}

// least is the least that is written in the unit of another value.
const least = 0.1

// boundText is a bound in the unit of the estimate, or in its own where it would be a small
// fraction of that.
func (cl claim) boundText(s results.Scale, bound float64) string {
	if v := math.Abs(bound * s.Factor); v < least && v > 0 {
		s = results.ScaleFor(bound, cl.unit)
	}
	return s.WithUnit(s.Exact(bound))
}

// smallest and largest are the values between which the author's unit is a good one to read.
const (
	smallest = 0.01
	largest  = 1e6
)

// scale is the unit in which a value of the subject is told: that of the bounds as the author wrote them.
func (cl claim) scale(v float64) results.Scale {
	if s, ok := results.ScaleOf(cl.unit, cl.written); ok {
		if a := math.Abs(v * s.Factor); v == 0 || a >= smallest && a < largest {
			return s
		}
	}
	return results.ScaleFor(v, cl.unit)
}

// quotient is a subject that is one metric divided by another.
func (cl claim) quotient() (metric, by *assertion.Expr, ok bool) {
	e := cl.subject
	if e.Op != assertion.Div || len(e.Args) != 2 || e.Args[0] == nil || e.Args[1] == nil ||
		e.Args[0].Op != assertion.Metric || e.Args[1].Op != assertion.Metric {
		return nil, nil, false
	}
	return e.Args[0], e.Args[1], true
}

// both are the two values of a ratio of metrics, and how the one lies to the other:
// "bandwidth 14.67 GB/s, baseline 19.38 GB/s, 24% below: ". "" of other subjects.
func (cl claim) both(sources []*source, ratio estimate) string {
	metric, by, ok := cl.quotient()
	if !ok {
		return ""
	}
	value, known := cl.valueOf(sources, metric)
	of, also := cl.valueOf(sources, by)
	if !known || !also {
		return ""
	}
	name := by.String()
	if by.Baseline && by.Metric == metric.Metric {
		name = "baseline"
	}
	if metric.Unit == by.Unit && cl.nearOne() {
		s := results.ScaleFor(max(math.Abs(value), math.Abs(of)), metric.Unit)
		return fmt.Sprintf("%s %s, %s %s, %s: ", metric, estimateText(s, value), name, estimateText(s, of),
			apartText(ratio.center))
	}
	return fmt.Sprintf("%s %s, %s %s: ", metric, estimateText(results.ScaleFor(value, metric.Unit), value), name,
		estimateText(results.ScaleFor(of, by.Unit), of))
}

// nearOne says whether the bounds of a ratio are about two equal values, which differ by so many percent. Of
// p99 <= 5*p50 the ratio itself says more.
func (cl claim) nearOne() bool {
	for _, b := range []*float64{cl.bounds.Lower, cl.bounds.Upper} {
		if b != nil && (*b < 0.5 || *b > 2) {
			return false
		}
	}
	return true
}

func estimateText(s results.Scale, v float64) string {
	text, _, _ := s.Estimate(v, nil)
	return s.WithUnit(text)
}

// apartText says on which side of 1 a ratio lies.
func apartText(ratio float64) string {
	switch share := math.Abs(ratio - 1); {
	case share < 0.0001:
		return "equal"
	case ratio < 1:
		return percent(share) + " below"
	default:
		return percent(share) + " above"
	}
}

// valueOf is a metric over the launches of its source, on the scale of a ratio.
func (cl claim) valueOf(sources []*source, leaf *assertion.Expr) (float64, bool) {
	k := cl.sourceOf(leaf)
	for _, s := range sources {
		if s.key != k.key || (s.c == nil) != k.baseline {
			continue
		}
		v, err := newVariable(cl.metrics, 0, s, leaf, true)
		if err != nil || len(v.values) == 0 {
			return 0, false
		}
		return v.mean, true
	}
	return 0, false
}

// mostSpelled is how many launches a message writes one by one.
const mostSpelled = 3

// spelled is what each launch gave, where there are so few and so different ones that an
// interval says nothing.
func (cl claim) spelled(sources []*source, e estimate) string {
	ci := e.ci()
	if ci == nil || !results.Uninformative(ci) || e.n > mostSpelled || cl.subject.Op != assertion.Metric {
		return ""
	}
	s := cl.scale(e.center)
	var all []string
	for _, src := range sources {
		if k := cl.sourceOf(cl.subject); src.key != k.key || (src.c == nil) != k.baseline {
			continue
		}
		for _, l := range src.launches {
			if v, ok := l.Metrics.Get(cl.subject.Metric); ok {
				text, _, _ := s.Estimate(v, nil)
				all = append(all, text)
			}
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("; the launches gave %s", s.WithUnit(strings.Join(all, ", ")))
}

// carries says what the path was found to carry, of a bandwidth that is below what is asked
// of it, and whether that can be reached at all: a probe differs from a measurement by noise,
// so only what lies clearly beyond it cannot.
func (cl claim) carries(sources []*source, where place) string {
	if cl.own == nil || cl.subject.Op != assertion.Metric || cl.bounds.Lower == nil ||
		cl.subject.Case != "" && cl.subject.Case != cl.own.Key || where == inside || where == above {
		return ""
	}
	most := kindOf(cl.own).Carries
	if most == nil {
		return ""
	}
	var all []float64
	for _, l := range sources[0].launches {
		if v, ok := most(cl.subject.Metric, l.Metrics); ok && v > 0 {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return ""
	}
	carried := logarithmic(all, results.Confidence).center
	s := cl.scale(carried)
	text := fmt.Sprintf("; this path carries %s here", estimateText(s, carried))
	if *cl.bounds.Lower > aboveCeiling*carried {
		text += ": the target cannot be reached"
	}
	return text
}

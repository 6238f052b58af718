package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"weir/assertion"
	"weir/results"
)

// noise is how much launches of a case vary, as it is known from elsewhere than from the
// launches that are judged: the standard deviation of the logarithm of what is asserted of,
// with its degrees of freedom, 0 of a number that is taken as exact.
//
// It is a floor. An interval is never narrower than this noise makes it, and never narrower
// than the launches' own spread makes it: history that knew too little must not make a
// verdict certain. It keeps three launches that agree by chance from looking certain.
type noise struct {
	sd, df float64
	from   string
	pooled bool // over other cases of the session, and not known before it
}

// half is half of the interval that n launches of this noise give.
func (n *noise) half(launches int, confidence float64) float64 {
	return quantileOf(n.df, confidence) * n.sd / math.Sqrt(float64(launches))
}

// quantileOf is Student's, or the normal one where nothing was estimated.
func quantileOf(df, confidence float64) float64 {
	if df <= 0 || math.IsInf(df, 1) {
		return distuv.UnitNormal.Quantile((1 + confidence) / 2)
	}
	return student(df, confidence)
}

// floored is an interval of a positive quantity made at least so wide.
func (n *noise) floored(at interval) interval {
	if n == nil {
		return at
	}
	return func(confidence float64) estimate {
		e := at(confidence)
		lo, hi := n.around(e, confidence)
		e.lo, e.hi = min(e.lo, lo), max(e.hi, hi)
		return e
	}
}

// around is the interval that this noise makes around an estimate of a positive quantity; that of the estimate where
// there is none.
func (n *noise) around(e estimate, confidence float64) (lo, hi float64) {
	if e.n < 2 || e.center <= 0 {
		return e.lo, e.hi
	}
	half := n.half(e.n, confidence)
	return unlog(math.Log(e.center) - half), unlog(math.Log(e.center) + half)
}

// surprising is the probability with which a session of the known noise looks as if it
// contradicted it.
const surprising = 0.01

// contradicted says whether launches vary by more than what is known can explain, by the
// ratio of variances. Launches that vary less contradict nothing: those of a path with a
// slow mode often do.
func (n *noise) contradicted(logs []float64) bool {
	if len(logs) < 2 {
		return false
	}
	_, sd := moments(logs)
	if n.sd == 0 {
		return sd > rounding
	}
	own := float64(len(logs) - 1)
	limit := distuv.ChiSquared{K: own}.Quantile(1-surprising) / own
	if n.df > 0 {
		limit = distuv.F{D1: own, D2: n.df}.Quantile(1 - surprising)
	}
	return sd*sd > limit*n.sd*n.sd
}

// String says how much it is and where it is known from.
func (n *noise) String() string { return "noise " + percent(n.sd) + " " + n.from }

// Noise pooled over the cases of a run counts as known from this many degrees of freedom on,
// and is pooled over this many cases at most.
const (
	leastPooled = assertion.LeastPooled
	mostPooled  = 64
)

// stored is what was known of a metric of a case before the session: by the reference that
// an assertion rests on, else by history.
func (eval *evaluator) stored(list []assertion.Noise, key, metric string) *assertion.Noise {
	find := func(list []assertion.Noise) *assertion.Noise {
		if i := slices.IndexFunc(list, func(n assertion.Noise) bool {
			return n.Metric == metric && (n.Case == "" || n.Case == key)
		}); i >= 0 {
			return &list[i]
		}
		return nil
	}
	if n := find(list); n != nil {
		return n
	}
	for i := range eval.doc.Noise {
		n := &eval.doc.Noise[i]
		if n.Case == key && (n.Environment == "" || n.Environment == eval.doc.Environment.Fingerprint) {
			return find(n.Metrics)
		}
	}
	return nil
}

// noiseOf is what is known of the noise of a subject over one case at a look, nil if nothing.
func (eval *evaluator) noiseOf(
	list []assertion.Noise, c *results.Case, subject *assertion.Expr, unit string, look int,
) *noise {
	if !positive(eval.metrics, subject) {
		return nil
	}
	if names := subject.Metrics(); len(names) == 1 {
		if n := eval.stored(list, c.Key, names[0]); n != nil {
			return &noise{sd: n.Launch, df: n.LaunchDF, from: "by " + n.From}
		}
	}
	return eval.pooled(c, subject, unit, look)
}

type poolKey struct {
	run, workload, fabric, subject string
	look                           int
}

// spreadOf is the sum of squares of one case of a pool, and the standard deviation that was known of it, 0 if none.
type spreadOf struct {
	key                string
	squares, df, known float64
}

// pooled is the noise of a subject over the other cases of a run that are on the same fabric,
// each by as many of its launches as this one has.
func (eval *evaluator) pooled(c *results.Case, subject *assertion.Expr, unit string, look int) *noise {
	if look < 2 {
		return nil
	}
	squares, df, cases := 0., 0., 0
	for _, s := range eval.spreadsOf(c, subject, unit, look) {
		if s.key != c.Key {
			squares, df, cases = squares+s.squares, df+s.df, cases+1
		}
	}
	if df < leastPooled {
		return nil
	}
	return &noise{math.Sqrt(squares / df), df, "pooled over " + counted(cases, "other case"), true}
}

// spreadsOf are the spreads of the cases of a run that are on the same fabric as one of them.
func (eval *evaluator) spreadsOf(c *results.Case, subject *assertion.Expr, unit string, look int) []spreadOf {
	text := subject.String()
	if names := subject.Metrics(); len(names) == 1 {
		text = names[0] // what it is multiplied with makes no difference
	}
	k := poolKey{c.Run, c.Workload, fabricOf(c), text, look}
	kept, _ := eval.pools.LoadOrStore(k, sync.OnceValue(func() []spreadOf {
		return eval.pool(k, c, subject, unit)
	}))
	return kept.(func() []spreadOf)()
}

func (eval *evaluator) pool(k poolKey, own *results.Case, subject *assertion.Expr, unit string) []spreadOf {
	var out []spreadOf
	for _, c := range eval.doc.Cases {
		if len(out) == mostPooled {
			break
		}
		if c.Run != k.run || c.Workload != k.workload || fabricOf(c) != k.fabric || !measured(c) ||
			eval.invalid[c] != "" {
			continue
		}
		launches := byIndex(c.Succeeded())
		launches = launches[:min(len(launches), k.look)]
		if len(launches) < 2 {
			continue
		}
		var values []float64
		for _, l := range launches {
			v, err := subject.EvalWith(func(leaf *assertion.Expr) (float64, error) {
				if leaf.Baseline || leaf.Case != "" && leaf.Case != own.Key {
					return 0, fmt.Errorf("metric %s is of another case", leaf.Metric)
				}
				return metricOf(l, leaf.Metric)
			}, unit)
			if err != nil || v <= 0 {
				break
			}
			values = append(values, math.Log(v))
		}
		if len(values) < len(launches) {
			continue
		}
		_, sd := moments(values)
		df := float64(len(values) - 1)
		one := spreadOf{key: c.Key, squares: sd * sd * df, df: df}
		if names := subject.Metrics(); len(names) == 1 {
			one.known = eval.knownOf(c, names[0])
		}
		out = append(out, one)
	}
	return out
}

func fabricOf(c *results.Case) string {
	for _, l := range c.Launches {
		if l.Fabric != "" {
			return l.Fabric
		}
	}
	name, _ := c.Options["fabric"].(string)
	return name
}

// between is what is known of how sessions differ in a metric of a case, nil if nothing.
func (eval *evaluator) between(list []assertion.Noise, key, metric string) *assertion.Noise {
	if n := eval.stored(list, key, metric); n != nil && n.KnowsSessions {
		return n
	}
	return nil
}

// modes says where launches fall into two groups, from enoughToPass launches on: where
// the widest gap between neighbours, both sides of which have two launches or more, is
// wider than in 99 % of sessions of one mode, as a multiple of the standard deviation
// within the groups. The limits are simulated (weir docs statistics).
func modes(ps []point, unit string) string {
	n := len(ps)
	if n < enoughToPass {
		return ""
	}
	ps = slices.SortedFunc(slices.Values(ps), func(a, b point) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.launch.Index, b.launch.Index))
	})
	if ps[0].value <= 0 {
		return ""
	}
	x := logs(valuesOf(ps))
	at, gap := 0, 0.
	for i := 2; i <= n-2; i++ {
		if d := x[i] - x[i-1]; d > gap {
			at, gap = i, d
		}
	}
	if at == 0 || gap < rounding {
		return ""
	}
	_, below := moments(x[:at])
	_, above := moments(x[at:])
	within := math.Sqrt((below*below*float64(at-1) + above*above*float64(n-at-1)) / float64(n-2))
	if gap <= interpolated(modeGaps, n)*within {
		return ""
	}
	return modesText(ps[:at], ps[at:], unit)
}

// modesText says that launches fall into two groups, of which the second has the larger values, and names
// the launches of the rarer one.
func modesText(low, high []point, unit string) string {
	center := func(ps []point) float64 {
		if slices.ContainsFunc(ps, func(p point) bool { return p.value <= 0 }) {
			return arithmetic(valuesOf(ps), results.Confidence).center
		}
		return logarithmic(valuesOf(ps), results.Confidence).center
	}
	rare := low
	if len(low) > len(high) {
		rare = high
	}
	rare = slices.SortedFunc(slices.Values(rare),
		func(a, b point) int { return cmp.Compare(a.launch.Index, b.launch.Index) })
	s := results.ScaleFor(center(high), unit)
	slow, _, _ := s.Estimate(center(low), nil)
	quick, _, _ := s.Estimate(center(high), nil)
	return fmt.Sprintf("two modes: %s near %s, %d near %s; the rarer one: %s", launches(len(low)), s.WithUnit(slow),
		len(high), s.WithUnit(quick), describe(rare, slices.Repeat([]bool{true}, len(rare)), unit))
}

// markedModes is modesText of the launches that are marked and of the others.
func markedModes(ps []point, marked []bool, unit string) string {
	rest, apart := without(ps, marked), without(ps, inverted(marked))
	if median(valuesOf(apart)) < median(valuesOf(rest)) {
		return modesText(apart, rest, unit)
	}
	return modesText(rest, apart, unit)
}

func inverted(marked []bool) []bool {
	out := make([]bool, len(marked))
	for i, m := range marked {
		out[i] = !m
	}
	return out
}

// threshold is a limit for so many launches.
type threshold struct {
	n     int
	limit float64
}

// modeGaps are exceeded in 1 % of sessions of one mode, outlierLimits in 5 % of them.
var (
	modeGaps = []threshold{
		{8, 5.09}, {9, 4.46}, {10, 3.94}, {12, 3.21}, {15, 2.65}, {20, 2.09}, {30, 1.61}, {50, 1.32}, {100, 1.08},
	}
	outlierLimits = []threshold{
		{5, 7.79}, {6, 5.57}, {7, 5.85}, {8, 4.98}, {9, 5.10}, {10, 4.59}, {12, 4.41}, {15, 4.30}, {20, 4.00},
		{30, 3.84}, {50, 3.77}, {100, 3.75},
	}
)

// interpolated is the limit for n launches, linear in the reciprocal of n.
func interpolated(table []threshold, n int) float64 {
	for i, t := range table {
		switch {
		case n > t.n:
			continue
		case n == t.n || i == 0:
			return t.limit
		}
		before := table[i-1]
		a, b, x := 1/float64(before.n), 1/float64(t.n), 1/float64(n)
		return t.limit + (before.limit-t.limit)*(x-b)/(a-b)
	}
	return table[len(table)-1].limit
}

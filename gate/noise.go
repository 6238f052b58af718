package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// noise is the known standard deviation of the logarithm of a subject between launches, with its degrees
// of freedom; 0 degrees of freedom mean exact.
//
// It is a floor: an interval is never narrower than the known noise or the launches' own spread makes it.
// It prevents three launches that agree by chance from looking certain.
type noise struct {
	sd, df float64
	from   string
	pooled bool // from other cases of this session
}

// half is the half-width of the interval of n launches.
func (n *noise) half(launches int, confidence float64) float64 {
	return quantileOf(n.df, confidence) * n.sd / math.Sqrt(float64(launches))
}

// quantileOf is a quantile of Student's distribution, or of the normal one if df is 0 or infinite.
func quantileOf(df, confidence float64) float64 {
	if df <= 0 || math.IsInf(df, 1) {
		return distuv.UnitNormal.Quantile((1 + confidence) / 2)
	}
	return student(df, confidence)
}

// floored widens an interval of a positive quantity to at least this noise.
func (n *noise) floored(at interval) interval {
	if n == nil {
		return at
	}
	return func(confidence float64) estimate {
		e := at(confidence)
		lo, hi := n.interval(e, confidence)
		e.lo, e.hi = min(e.lo, lo), max(e.hi, hi)
		return e
	}
}

// interval is the interval of this noise around an estimate of a positive quantity; the estimate's own for
// other quantities.
func (n *noise) interval(e estimate, confidence float64) (lo, hi float64) {
	if e.center <= 0 {
		return e.lo, e.hi
	}
	half := n.half(e.n, confidence)
	return unlog(math.Log(e.center) - half), unlog(math.Log(e.center) + half)
}

// contradictionLevel is the probability that a session with the known noise appears to contradict it.
const contradictionLevel = 0.01

// quieter reports whether launches vary by far less than those of the cases that a pooled noise is of, by an F test
// in the other direction: this case is another kind of path. Fewer than leastQuiet launches may agree by chance, or
// because their values are rounded.
func (n *noise) quieter(logs []float64) bool {
	if !n.pooled || len(logs) < leastQuiet {
		return false
	}
	_, sd := moments(logs)
	return n.sd*n.sd > ratioLimit(n.df, float64(len(logs)-1))*sd*sd
}

// leastQuiet is the number of launches from which a case may be quieter than others.
const leastQuiet = 5

// contradicted reports whether launches vary by more than the known noise explains, by an F test. Smaller
// variance is no contradiction: paths with a slow mode often have it.
func (n *noise) contradicted(logs []float64) bool {
	if len(logs) < 2 {
		return false
	}
	_, sd := moments(logs)
	if n.sd == 0 {
		return sd > rounding
	}
	own := float64(len(logs) - 1)
	return sd*sd > ratioLimit(own, n.df)*n.sd*n.sd
}

// ratioLimit is the ratio of two variances that is exceeded with probability contradictionLevel; df 0
// means an exact variance.
func ratioLimit(own, df float64) float64 {
	key := [2]float64{own, df}
	if known, ok := knownRatios.Load(key); ok {
		return known.(float64)
	}
	limit := 0.
	if df > 0 {
		limit = distuv.F{D1: own, D2: df}.Quantile(1 - contradictionLevel)
	} else {
		limit = distuv.ChiSquared{K: own}.Quantile(1-contradictionLevel) / own
	}
	if df == math.Trunc(df) && kept.Add(1) <= mostKept {
		knownRatios.Store(key, limit)
	}
	return limit
}

var knownRatios sync.Map // degrees of freedom → limit

// String is the noise and its origin.
func (n *noise) String() string { return wording.Sentence(n.reason()) }

func (n *noise) reason() results.Reason {
	return results.Because(results.NoiseKnown, results.Number("sd", n.sd, "share"), results.Text("from", n.from))
}

// Noise pooled over the cases of a run counts as known from leastPooled degrees of freedom on; at most
// mostPooled cases are pooled.
const (
	leastPooled = assertion.LeastPooled
	mostPooled  = 64
)

// stored returns the noise of a metric of a case that was known before the session: by the assertion's
// reference, else by history.
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

// noiseOf returns the known noise of a subject over one case at an interim analysis, or nil.
func (eval *evaluator) noiseOf(
	list []assertion.Noise, c *results.Case, subject *assertion.Expr, unit string, atLaunch int,
) *noise {
	if !positive(eval.metrics.In(c), subject) {
		return nil
	}
	if names := subject.Metrics(); len(names) == 1 {
		if n := eval.stored(list, c.Key, names[0]); n != nil {
			return &noise{sd: n.Launch, df: n.LaunchDF, from: "by " + n.From}
		}
	}
	return eval.pooled(c, subject, unit, atLaunch)
}

type poolKey struct {
	run, workload, fabric, subject string
	look                           int
}

// caseVariance is the sum of squares of one case in a pool, with its known standard deviation (0:
// unknown).
type caseVariance struct {
	key                string
	squares, df, known float64
}

// pooled returns the noise of a subject over the other cases of the run on the same fabric, each with as
// many launches as this case has.
func (eval *evaluator) pooled(c *results.Case, subject *assertion.Expr, unit string, atLaunch int) *noise {
	if atLaunch < 2 {
		return nil
	}
	squares, df, cases := 0., 0., 0
	for _, s := range eval.caseVariances(c, subject, unit, atLaunch) {
		if s.key != c.Key {
			squares, df, cases = squares+s.squares, df+s.df, cases+1
		}
	}
	if df < leastPooled {
		return nil
	}
	return &noise{math.Sqrt(squares / df), df, "pooled over " + wording.Counted(cases, "other case"), true}
}

// caseVariances returns the variances of all cases of the run that are on the same fabric as c.
func (eval *evaluator) caseVariances(
	c *results.Case, subject *assertion.Expr, unit string, atLaunch int,
) []caseVariance {
	text := subject.String()
	if names := subject.Metrics(); len(names) == 1 {
		text = names[0] // factors do not matter
	}
	k := poolKey{c.Run, c.Workload, fabricOf(c), text, atLaunch}
	kept, _ := eval.pools.LoadOrStore(k, sync.OnceValue(func() []caseVariance {
		return eval.pool(k, c, subject, unit)
	}))
	return kept.(func() []caseVariance)()
}

func (eval *evaluator) pool(k poolKey, own *results.Case, subject *assertion.Expr, unit string) []caseVariance {
	var out []caseVariance
	for _, c := range eval.doc.Cases {
		if len(out) == mostPooled {
			break
		}
		if c.Run != k.run || c.Workload != k.workload || fabricOf(c) != k.fabric || !measured(c) ||
			!eval.invalid[c].None() {
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
		one := caseVariance{key: c.Key, squares: sd * sd * df, df: df}
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

// between returns the known variance between sessions of a metric of a case, or nil.
func (eval *evaluator) between(list []assertion.Noise, key, metric string) *assertion.Noise {
	if n := eval.stored(list, key, metric); n != nil && n.KnowsSessions {
		return n
	}
	return nil
}

// modes reports two groups of launches, from enoughToPass launches on: the widest gap with at least two
// launches on each side exceeds, as a multiple of the standard deviation within the groups, the gap in 99
// % of unimodal sessions. The limits are simulated (weir docs statistics).
func modes(ps []point, unit string) []results.Reason {
	n := len(ps)
	if n < enoughToPass {
		return nil
	}
	ps = slices.SortedFunc(slices.Values(ps), func(a, b point) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.launch.Index, b.launch.Index))
	})
	if ps[0].value <= 0 {
		return nil
	}
	x := logs(valuesOf(ps))
	at, gap := 0, 0.
	for i := 2; i <= n-2; i++ {
		if d := x[i] - x[i-1]; d > gap {
			at, gap = i, d
		}
	}
	if at == 0 || gap < rounding {
		return nil
	}
	_, below := moments(x[:at])
	_, above := moments(x[at:])
	within := math.Sqrt((below*below*float64(at-1) + above*above*float64(n-at-1)) / float64(n-2))
	if gap <= interpolated(modeGaps, n)*within {
		return nil
	}
	return modesReason(ps[:at], ps[at:], unit)
}

// modesReason reports two groups of launches, high with the larger values; it names the launches of the
// smaller group.
func modesReason(low, high []point, unit string) []results.Reason {
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
	return []results.Reason{results.Because(results.TwoModes, append([]results.Value{
		results.Count("low_launches", len(low), "launch"), results.Number("low", center(low), unit),
		results.Count("high_launches", len(high), "launch"), results.Number("high", center(high), unit),
	}, outlierValues("", rare, slices.Repeat([]bool{true}, len(rare)), unit)...)...)}
}

// modesByMark is modesReason of the marked launches and the others. Marked ones on both sides of the others are no
// mode.
func modesByMark(ps []point, marked []bool, unit string) []results.Reason {
	rest, apart := without(ps, marked), without(ps, inverted(marked))
	others, theirs := valuesOf(rest), valuesOf(apart)
	switch {
	case slices.Max(theirs) < slices.Min(others):
		return modesReason(apart, rest, unit)
	case slices.Min(theirs) > slices.Max(others):
		return modesReason(rest, apart, unit)
	}
	return []results.Reason{results.Because(results.OwnMode, outlierValues("", ps, marked, unit)...)}
}

func inverted(marked []bool) []bool {
	out := make([]bool, len(marked))
	for i, m := range marked {
		out[i] = !m
	}
	return out
}

// threshold is a limit for n launches.
type threshold struct {
	n     int
	limit float64
}

// modeGaps are exceeded in 1 % of unimodal sessions, outlierLimits in 5 % of them.
var (
	modeGaps = []threshold{
		{8, 5.09}, {9, 4.46}, {10, 3.94}, {12, 3.21}, {15, 2.65}, {20, 2.09}, {30, 1.61}, {50, 1.32}, {100, 1.08},
	}
	outlierLimits = []threshold{
		{5, 7.79}, {6, 5.57}, {7, 5.85}, {8, 4.98}, {9, 5.10}, {10, 4.59}, {12, 4.41}, {15, 4.30}, {20, 4.00},
		{30, 3.84}, {50, 3.77}, {100, 3.75},
	}
)

// interpolated is the limit for n launches, linear in 1/n.
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

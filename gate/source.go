package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// source is the launches of one case, of this session or of the baseline, that a subject takes values
// from.
type source struct {
	key      string
	c        *results.Case // nil of a baseline
	launches []*results.Launch
	// donor are the launches of the same case on the other side: of this session for a baseline, and reverse. They lend
	// their noise to a single launch.
	donor    []*results.Launch
	imported bool // a baseline that another tool measured
}

// name is how messages name a source other than the own case.
func (s *source) name() string {
	if s.c == nil {
		return "baseline of " + s.key
	}
	return s.key
}

// reason places a reason at the source.
func (s *source) reason(r results.Reason) results.Reason {
	r.Place.Case, r.Place.Baseline = s.key, s.c == nil
	return r
}

type sourceKey struct {
	key      string
	baseline bool
}

// sourceOf returns the source of a metric in a check.
func (check boundCheck) sourceOf(leaf *assertion.Expr) sourceKey {
	k := sourceKey{leaf.Case, leaf.Baseline}
	if k.key == "" && check.own != nil {
		k.key = check.own.Key
	}
	return k
}

// sources returns the sources of a check, its own case first. Validity precedes verdicts: a case that is
// missing, in error or left out decides the outcome, in this order, and the reason names it.
func (eval *evaluator) sources(check boundCheck) ([]*source, outcome, bool) {
	var order []sourceKey
	seen := map[sourceKey]bool{}
	add := func(k sourceKey) {
		if !seen[k] {
			seen[k] = true
			order = append(order, k)
		}
	}
	if check.own != nil {
		add(sourceKey{key: check.own.Key})
	}
	for _, leaf := range check.subject.Leaves() {
		add(check.sourceOf(leaf))
	}
	var out []*source
	var worst *outcome
	for _, k := range order {
		s, o, ok := eval.source(k, check.own)
		if ok {
			out = append(out, s)
			continue
		}
		if check.own == nil || k.key != check.own.Key {
			o = o.atSource(k)
		}
		if worst == nil || outcomeRank(o) > outcomeRank(*worst) {
			worst = &o
		}
	}
	switch {
	case worst != nil:
		if len(worst.undecided) > 0 {
			worst.undecided = eval.runnable(keysOf(order))
		}
		return nil, *worst, false
	case len(out) == 0:
		return nil, invalidAssertion("it measures nothing"), false
	}
	for _, stored := range out {
		for _, s := range out {
			if stored.c == nil && s.c != nil && s.key == stored.key {
				s.donor = stored.launches
			}
		}
	}
	return out, outcome{}, true
}

// outcomeRank orders outcomes of unusable sources: permanent ones outrank those that more launches may
// resolve.
func outcomeRank(o outcome) int {
	switch {
	case len(o.undecided) > 0:
		return 0
	case o.verdict == results.SkippedVerdict:
		return 1
	}
	return 2
}

func keysOf(order []sourceKey) []string {
	var keys []string
	for _, k := range order {
		if !k.baseline {
			keys = append(keys, k.key)
		}
	}
	return keys
}

func (eval *evaluator) source(k sourceKey, own *results.Case) (*source, outcome, bool) {
	if k.baseline {
		return eval.baseline(k.key)
	}
	c := eval.cases[k.key]
	if own != nil && own.Key == k.key {
		c = own
	}
	switch {
	case k.key == "":
		return nil, invalidAssertion("one of its metrics belongs to no case"), false
	case c == nil:
		return nil, failed(results.Because(results.NotInDocument)), false
	}
	if o, bad := eval.unusable(c); bad {
		return nil, o, false
	}
	return &source{key: k.key, c: c, launches: byIndex(c.Succeeded())}, outcome{}, true
}

// baseline returns a case of the baseline session, which must have run in the same environment.
func (eval *evaluator) baseline(key string) (*source, outcome, bool) {
	b := eval.doc.Baseline
	if b == nil {
		return nil, failed(results.Because(results.NoBaseline)), false
	}
	if b.Absent != "" {
		return nil, passedOver(results.Because(results.BaselineAbsent, why(b.Absent))), false
	}
	i := slices.IndexFunc(b.Cases, func(c results.BaselineCase) bool { return c.Key == key })
	if i < 0 && b.Missing == results.SkipMissing {
		return nil, passedOver(results.Because(results.BaselineLacks, results.Text("session", b.Session))), false
	}
	if o, bad := eval.checkEnvironment(b.Fingerprint, results.Text("session", b.Session)); bad && !b.Imported {
		if b.Missing == results.SkipMissing && o.reasons[0].Kind == results.EnvironmentUnlike {
			o.verdict = results.SkippedVerdict // this environment has no baseline yet
		}
		return nil, o, false
	}
	if i >= 0 && len(b.Cases[i].Launches) == 0 && b.Cases[i].Disturbed > 0 {
		return nil, outcome{verdict: results.InconclusiveVerdict, reasons: []results.Reason{
			results.Because(results.BaselineDisturbed, results.Text("session", b.Session),
				results.Count("launches", b.Cases[i].Disturbed, "launch")),
		}}, false
	}
	if i < 0 || len(b.Cases[i].Launches) == 0 {
		return nil, failed(results.Because(results.BaselineNoLaunch, results.Text("session", b.Session))), false
	}
	s := &source{key: key, imported: b.Imported}
	for n, metrics := range b.Cases[i].Launches {
		s.launches = append(s.launches, &results.Launch{Index: n, Status: results.OK, Metrics: metrics})
	}
	if c := eval.cases[key]; c != nil {
		s.donor = c.Succeeded()
	}
	return s, outcome{}, true
}

// checkReference returns an error if expected values are from another environment.
func (eval *evaluator) checkReference(r *assertion.Reference) (outcome, bool) {
	if r == nil {
		return outcome{}, false
	}
	return eval.checkEnvironment(r.Environment, results.Text("table", r.Table))
}

// checkEnvironment compares the environment with a fingerprint.
func (eval *evaluator) checkEnvironment(fingerprint string, origin results.Value) (outcome, bool) {
	switch here := eval.doc.Environment.Fingerprint; {
	case here == "" || fingerprint == "":
		return failed(results.Because(results.EnvironmentUnknown, origin)), true
	case here != fingerprint:
		return failed(results.Because(results.EnvironmentUnlike, origin)), true
	}
	return outcome{}, false
}

// mostOptions is how many differing options a reason names.
const mostOptions = 3

// otherOptions returns a reason with the options that a case had in the baseline, and has not now.
func (eval *evaluator) otherOptions(sources []*source) []results.Reason {
	var all []string
	for _, s := range sources {
		if s.c != nil {
			continue
		}
		for _, d := range eval.doc.Baseline.Differences {
			if name, ok := strings.CutPrefix(d.What, results.OptionDiffers); ok && slices.Contains(d.Of, s.key) {
				all = append(all, name+" "+cmp.Or(d.Base, "none")+", now "+cmp.Or(d.New, "none"))
			}
		}
	}
	switch more := len(all) - mostOptions; {
	case len(all) == 0:
		return nil
	case more > 0:
		all = append(all[:mostOptions], fmt.Sprintf("and %d more", more))
	}
	return []results.Reason{results.Because(results.BaselineOptions, results.Text("options", strings.Join(all, "; ")))}
}

func byIndex(ls []*results.Launch) []*results.Launch {
	return slices.SortedStableFunc(slices.Values(ls),
		func(a, b *results.Launch) int { return cmp.Compare(a.Index, b.Index) })
}

// estimateFor estimates the subject: of a single case by its value in each launch, of several by
// linearised contributions.
func (eval *evaluator) estimateFor(check boundCheck, sources []*source, atLaunch int) (subjectEstimate, error) {
	if len(sources) > 1 || sources[0].c == nil {
		return eval.combined(check, sources, atLaunch)
	}
	c := sources[0].c
	ps, err := pointsOf(check.metrics, c, sources[0].launches, check.subject, check.unit)
	if err != nil {
		return subjectEstimate{}, err
	}
	estimator := func(ps []point) interval {
		if m := check.mergedClaim(c, ps); m != nil {
			return m.at
		}
		return func(confidence float64) estimate { return estimateOf(check.metrics, check.subject, ps, confidence) }
	}
	vs := valuesOf(ps)
	if positive(check.metrics, check.subject) {
		vs = logs(vs)
	}
	_, sd := moments(vs)
	est := subjectEstimate{
		at: estimator(ps), own: func() []float64 { return valuesOf(ps) }, noise: sd, spread: sd,
		relaunchable: []string{c.Key}, autocorrelation: autocorrelated(ps),
	}
	known := eval.noiseOf(check.noise, c, check.subject, check.unit, atLaunch)
	est.useKnownNoise(known, vs)
	switch marked := outliers(check.metrics, check.subject, ps); {
	case secondMode(marked):
		est.modes = modesByMark(ps, marked, check.unit)
	case slices.Contains(marked, true):
		est.outliers = results.Because(results.Outliers, outlierValues("", ps, marked, check.unit)...)
		est.withoutOutliers, est.outlierSide = estimator(without(ps, marked)), sideOfMarked(valuesOf(ps), marked)
		least, most := limitsOfOthers(valuesOf(ps), marked)
		est.clamped = check.clamped(ps, least, most, estimator)
	}
	if len(est.modes) == 0 && positive(check.metrics, check.subject) && check.better() != workload.Neither {
		est.modes = modes(ps, check.unit)
	}
	if len(est.modes) > 0 && len(ps) >= enoughToPass { // the better mode may be all that widens the interval
		middle := median(valuesOf(ps))
		est.clamped = check.clamped(ps, middle, middle, estimator)
	}
	if est.known {
		m := eval.moderated(check, c, atLaunch, vs, known, est.at)
		if m != nil && len(est.modes) == 0 && est.outliers.None() {
			est.moderated = known.floored(m)
		}
		est.at = known.floored(est.at)
		est.noise = max(est.noise, known.sd)
		if est.withoutOutliers != nil {
			est.withoutOutliers = known.floored(est.withoutOutliers)
		}
		if est.clamped != nil {
			est.clamped = known.floored(est.clamped)
		}
	}
	return est, nil
}

// useKnownNoise records the known noise, unless the launches contradict it.
func (est *subjectEstimate) useKnownNoise(known *noise, logs []float64) {
	switch {
	case known == nil, known.quieter(logs):
	case known.contradicted(logs):
		_, sd := moments(logs)
		est.noiseReason = results.Because(results.NoiseContradicted, results.Number("spread", sd, "share"),
			results.Number("sd", known.sd, "share"), results.Text("from", known.from))
	default:
		est.known, est.pooled, est.noiseReason = true, known.pooled, known.reason()
	}
}

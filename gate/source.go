package gate

import (
	"cmp"
	"fmt"
	"slices"

	"weir/assertion"
	"weir/results"
	"weir/workload"
)

// source is the launches of one case, of this session or of its baseline, that a
// subject takes values from.
type source struct {
	key      string
	c        *results.Case // nil of a baseline
	launches []*results.Launch
	// donor are launches of the same case in this session, which lend their noise
	// to a baseline of a single launch.
	donor []*results.Launch
}

// name is how errors call the source of a value that is not the own case's.
func (s *source) name() string {
	if s.c == nil {
		return "baseline of " + s.key
	}
	return s.key
}

type sourceKey struct {
	key      string
	baseline bool
}

// sourceOf is the source of a metric in a claim.
func (cl claim) sourceOf(leaf *assertion.Expr) sourceKey {
	k := sourceKey{leaf.Case, leaf.Baseline}
	if k.key == "" && cl.own != nil {
		k.key = cl.own.Key
	}
	return k
}

// sources are those of a claim, its own case first. Validity comes before any
// verdict: a case that is missing, in error or left out decides for all, in this
// order, and the cause names it.
func (eval *evaluator) sources(cl claim) ([]*source, outcome, bool) {
	var order []sourceKey
	seen := map[sourceKey]bool{}
	add := func(k sourceKey) {
		if !seen[k] {
			seen[k] = true
			order = append(order, k)
		}
	}
	if cl.own != nil {
		add(sourceKey{key: cl.own.Key})
	}
	for _, leaf := range cl.subject.Leaves() {
		add(cl.sourceOf(leaf))
	}
	var out []*source
	var worst *outcome
	for _, k := range order {
		s, o, ok := eval.source(k, cl.own)
		if ok {
			out = append(out, s)
			continue
		}
		if cl.own == nil || k.key != cl.own.Key {
			o.message = k.key + ": " + o.message
		}
		if worst == nil || gravity(o) > gravity(*worst) {
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
		return nil, failed("it measures nothing"), false
	}
	return out, outcome{}, true
}

// gravity orders what spoils a claim: what never comes outweighs what may come.
func gravity(o outcome) int {
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
		return nil, failed("a metric of it is of no case"), false
	case c == nil:
		return nil, failed("the case is not in the document"), false
	}
	if o, bad := eval.unusable(c); bad {
		return nil, o, false
	}
	return &source{key: k.key, c: c, launches: byIndex(c.Succeeded())}, outcome{}, true
}

// baseline is a case of another session. Its numbers say something about this
// session's only if both ran on the same kind of machine.
func (eval *evaluator) baseline(key string) (*source, outcome, bool) {
	b := eval.doc.Baseline
	if b == nil {
		return nil, failed("there is no baseline to compare with"), false
	}
	if b.Absent != "" {
		return nil, withoutBaseline(b.Absent), false
	}
	i := slices.IndexFunc(b.Cases, func(c results.BaselineCase) bool { return c.Key == key })
	if i < 0 && b.Missing == results.SkipMissing {
		return nil, withoutBaseline(fmt.Sprintf("the baseline (session %s) lacks the case", b.Session)), false
	}
	if o, bad := eval.unlike(b.Fingerprint, fmt.Sprintf("the baseline's (session %s)", b.Session)); bad {
		return nil, o, false
	}
	if i < 0 || len(b.Cases[i].Launches) == 0 {
		return nil, failed(fmt.Sprintf("the baseline (session %s) has no launch of this case", b.Session)), false
	}
	s := &source{key: key}
	for n, metrics := range b.Cases[i].Launches {
		s.launches = append(s.launches, &results.Launch{Index: n, Status: results.OK, Metrics: metrics})
	}
	if c := eval.cases[key]; c != nil {
		s.donor = c.Succeeded()
	}
	return s, outcome{}, true
}

// withoutBaseline is the outcome of what may be without its baseline.
func withoutBaseline(why string) outcome {
	return outcome{verdict: results.SkippedVerdict, message: "no baseline: " + why}
}

// elsewhere is the outcome of a statement whose expected values are of another environment.
func (eval *evaluator) elsewhere(r *assertion.Reference) (outcome, bool) {
	if r == nil {
		return outcome{}, false
	}
	return eval.unlike(r.Environment, fmt.Sprintf("that of the references (table %s)", r.Table))
}

// unlike compares the environment with that of other numbers.
func (eval *evaluator) unlike(fingerprint, whose string) (outcome, bool) {
	switch here := eval.doc.Environment.Fingerprint; {
	case here == "" || fingerprint == "":
		return failed("cross-environment: nothing shows that the environment is like " + whose), true
	case here != fingerprint:
		return failed("cross-environment: the environment is unlike " + whose), true
	}
	return outcome{}, false
}

func byIndex(ls []*results.Launch) []*results.Launch {
	return slices.SortedStableFunc(slices.Values(ls),
		func(a, b *results.Launch) int { return cmp.Compare(a.Index, b.Index) })
}

// evidence is what the sources say of the subject: of a single case by the
// subject's value in each launch, of several by their linearised contributions.
func (eval *evaluator) evidence(cl claim, sources []*source, look int) (evidence, error) {
	if len(sources) > 1 || sources[0].c == nil {
		return eval.combined(cl, sources, look)
	}
	c := sources[0].c
	ps, err := pointsOf(cl.metrics, c, sources[0].launches, cl.subject, cl.unit)
	if err != nil {
		return evidence{}, err
	}
	estimator := func(ps []point) interval {
		if m := cl.mergedClaim(c, ps); m != nil {
			return m.at
		}
		return func(confidence float64) estimate { return estimateOf(cl.metrics, cl.subject, ps, confidence) }
	}
	vs := valuesOf(ps)
	if positive(cl.metrics, cl.subject) {
		vs = logs(vs)
	}
	_, sd := moments(vs)
	ev := evidence{at: estimator(ps), noise: sd, launched: []string{c.Key}, alike: autocorrelated(ps)}
	known := eval.noiseOf(cl.noise, c, cl.subject, cl.unit, look)
	ev.acknowledge(known, vs)
	switch marked := outliers(cl.metrics, cl.subject, ps); {
	case secondMode(marked):
		ev.modes = markedModes(ps, marked, cl.unit)
	case slices.Contains(marked, true):
		ev.outliers = describe(ps, marked, cl.unit)
		ev.rest = estimator(without(ps, marked))
	}
	if ev.modes == "" && positive(cl.metrics, cl.subject) && cl.better() != workload.Neither {
		ev.modes = modes(ps, cl.unit)
	}
	if ev.known {
		if m := eval.moderated(cl, c, look, vs, known, ev.at); m != nil && ev.modes == "" && ev.outliers == "" {
			ev.moderated = known.floored(m)
		}
		ev.at = known.floored(ev.at)
		ev.noise = max(ev.noise, known.sd)
		if ev.rest != nil {
			ev.rest = known.floored(ev.rest)
		}
	}
	return ev, nil
}

// acknowledge puts down what is known of the noise, unless the launches contradict it.
func (ev *evidence) acknowledge(known *noise, logs []float64) {
	switch {
	case known == nil:
	case known.contradicted(logs):
		_, sd := moments(logs)
		ev.noiseText = fmt.Sprintf("its launches vary by %s, which contradicts the %s: that is not used", percent(sd),
			known)
	default:
		ev.known, ev.noiseText = true, known.String()
	}
}

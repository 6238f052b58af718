package gate

import (
	"fmt"
	"slices"

	"weir/assertion"
	"weir/results"
	"weir/workload"
)

// aboveCeiling is the share of its ceiling beyond which a measurement is called
// impossible. The ceiling is a short probe in the same launch and its own noise
// is several percent, as is the measurement's, so a path at its limit may well
// read 1.05; beyond 1.10 either bytes did not travel or the probe took another
// path, and in both cases the number says nothing about this one.
const aboveCeiling = 1.10

// aboveCeilingAlone is the same for a single launch, whose noise nobody knows: a
// probe of milliseconds and a timed part of milliseconds may well have had
// different luck, but not by a factor of two on a path that carried both.
const aboveCeilingAlone = 2

// measured says whether a case has launches that can be judged: it was neither
// left out nor ended by an error.
func measured(c *results.Case) bool {
	switch c.Status {
	case results.Error, results.Skipped, results.Excluded:
		return false
	}
	return true
}

// invalid says why what a case measured cannot be used, "" if it can. A failed
// launch is not a slow launch: it spoils the case instead of being left out,
// because the launches that survive are not a fair sample.
func invalid(c *results.Case) string {
	for _, l := range byIndex(counting(c)) {
		if l.Status != results.OK {
			if l.Failure == nil {
				return results.LaunchName(l.Index) + " failed"
			}
			return fmt.Sprintf("%s failed: %s", results.LaunchName(l.Index), l.Failure)
		}
	}
	return unsound(c)
}

// unsound says why what the launches of a case that did not fail measured cannot be
// used, "" if it can.
func unsound(c *results.Case) string {
	launches := byIndex(c.Succeeded())
	for _, l := range launches {
		if !l.Verified && verifies(c) {
			return results.LaunchName(l.Index) + ": the data it moved was not verified"
		}
		if name, v := infinite(l.Metrics); name != "" {
			return fmt.Sprintf("%s: metric %s is %v", results.LaunchName(l.Index), name, v)
		}
		if k := kindOf(c); k.Invalid != nil {
			if why := k.Invalid(c.Settled(), l.Metrics); why != "" {
				return fmt.Sprintf("%s: %s", results.LaunchName(l.Index), why)
			}
		}
	}
	if reason := sharedGPU(launches); reason != "" {
		return reason
	}
	if reason := gap(c); reason != "" {
		return reason
	}
	if reason := troubled(launches); reason != "" {
		return reason
	}
	if reason := clocksApart(kindOf(c), launches); reason != "" {
		return reason
	}
	return impossible(kindOf(c), launches)
}

// sharedGPU finds ranks that had one GPU together: what they moved is verified, and took the
// times of a GPU that does the work of both in turns.
func sharedGPU(launches []*results.Launch) string {
	for _, l := range launches {
		first := map[string]int{}
		for rank, gpu := range l.GPUs {
			if gpu == "" || rank >= len(l.Nodes) {
				continue
			}
			at := l.Nodes[rank] + " " + gpu
			other, shared := first[at]
			if shared {
				return fmt.Sprintf("%s: ranks %d and %d share GPU %s of node %s: what they moved is no figure "+
					"of a path between GPUs (place.gpus_per_rank: 1 gives each one of its own)",
					results.LaunchName(l.Index), other, rank,
					gpu, l.Nodes[rank])
			}
			first[at] = rank
		}
	}
	return ""
}

// infinite is the first metric, by name, that is not finite; "" if all are.
func infinite(m results.MetricValues) (string, float64) {
	for name, v := range m.All() {
		if notFinite(v) {
			return name, v
		}
	}
	return "", 0
}

// counting are the launches of a case that were not made again and are not void.
func counting(c *results.Case) []*results.Launch {
	return slices.DeleteFunc(slices.Clone(c.Launches), func(l *results.Launch) bool { return !l.Counts() })
}

// gap finds launches that were taken out of the document, or stand in it twice.
// Their numbers need not be without a hole: a launch may not get to a case.
func gap(c *results.Case) string {
	made := map[int]bool{}
	for _, l := range counting(c) {
		if made[l.Index] {
			return results.LaunchName(l.Index) + " stands twice in the document"
		}
		made[l.Index] = true
	}
	if c.Made != 0 && c.Made != len(c.Launches) {
		return fmt.Sprintf("%d launches were made, and %d are in the document", c.Made, len(c.Launches))
	}
	return ""
}

// kindOf is the workload of a case; an empty one where this weir does not know it.
func kindOf(c *results.Case) *workload.Kind {
	if k, ok := workload.Lookup(c.Workload); ok {
		return k
	}
	return &workload.Kind{}
}

// tooFewValues says which quantile of a claim is of too few values to decide, and whether it may after as
// many launches as most: an obstacle without a reason if all decide.
func tooFewValues(
	d *workload.Definitions, sources []*source, subject *assertion.Expr, most int,
) (o obstacle, more bool) {
	for _, s := range sources {
		if s.c == nil {
			continue
		}
		for _, metric := range subject.Metrics() {
			if o, more := fewSamples(d, s, metric, most); o.why != "" {
				o.why = s.key + ": " + o.why
				return o, more
			}
		}
	}
	return obstacle{}, false
}

// unknowable says why a metric of a claim decides nothing, however many launches there are.
func unknowable(sources []*source, subject *assertion.Expr) string {
	for _, s := range sources {
		if s.c == nil {
			continue
		}
		for _, metric := range subject.Metrics() {
			if why := undecided(s, metric, func(*results.Launch) bool { return true }); why != "" {
				return why
			}
		}
	}
	return ""
}

// untold says why launches lack a metric of a subject, where that is no fault of the run.
func untold(sources []*source, subject *assertion.Expr) string {
	for _, s := range sources {
		if s.c == nil {
			continue
		}
		for _, metric := range subject.Metrics() {
			lacks := func(l *results.Launch) bool { _, ok := l.Metrics.Get(metric); return !ok }
			if why := undecided(s, metric, lacks); why != "" {
				return why
			}
		}
	}
	return ""
}

// undecided says why a metric of one of the launches that are asked about decides nothing, by its workload.
func undecided(s *source, metric string, about func(*results.Launch) bool) string {
	k := kindOf(s.c)
	for _, l := range s.launches {
		if k.Undecidable == nil || !about(l) {
			continue
		}
		if why := k.Undecidable(s.c.Settled(), l.Metrics, metric); why != "" {
			return fmt.Sprintf("%s of %s: %s", results.LaunchName(l.Index), s.key, why)
		}
	}
	return ""
}

// fewSamples says why a quantile of a source decides nothing, and whether it may after as many launches as most.
func fewSamples(d *workload.Definitions, s *source, metric string, most int) (o obstacle, more bool) {
	m, ok := d.Stated(s.c, metric)
	if !ok || len(s.launches) == 0 {
		return o, false
	}
	var measured []results.MetricValues
	for _, l := range s.launches {
		measured = append(measured, l.Metrics)
	}
	k := kindOf(s.c)
	n := k.SamplesOf(m, s.c.Settled(), measured)
	if o.why = k.FewSamples(m, n); o.why == "" {
		return o, false
	}
	if set := k.MoreSamples(m, s.c.Settled(), n, len(s.launches), most); set != "" {
		o.change = "set " + set
	}
	return o, k.Quantiles == nil && k.FewSamples(m, n*int64(most)/int64(len(s.launches))) == ""
}

// impossible compares a case with the ceiling that its own launches probed.
func impossible(k *workload.Kind, launches []*results.Launch) string {
	if k.OfCeiling == nil {
		return ""
	}
	var shares []float64
	for _, l := range launches {
		if v, ok := k.OfCeiling(l.Metrics); ok && v > 0 {
			shares = append(shares, v)
		}
	}
	if len(shares) == 0 {
		return ""
	}
	e := logarithmic(shares, results.Confidence)
	limit := aboveCeiling
	if e.n == 1 {
		limit = aboveCeilingAlone
	}
	if e.lo <= limit {
		return ""
	}
	o := results.Observed{Value: e.center * 100, Unit: "%", N: e.n}
	if ci := e.ci(); ci != nil {
		o.CI = &[2]float64{ci[0] * 100, ci[1] * 100}
	}
	return fmt.Sprintf("measured more than the path can carry: %s of the probed ceiling, where no more than %.0f %% may be noise",
		o, limit*100)
}

// verifies says whether the case asked for its data to be verified.
func verifies(c *results.Case) bool {
	mode, ok := c.Options["verify"]
	if !ok {
		o, has := kindOf(c).Option("verify")
		if !has {
			return false
		}
		mode = o.Default
	}
	return mode != "none"
}

// unusable is the outcome that the state of a case forces on its assertions.
func unusable(c *results.Case) (outcome, bool) {
	reason := ""
	if measured(c) {
		reason = invalid(c)
	}
	return unusableAs(c, reason)
}

func (eval *evaluator) unusable(c *results.Case) (outcome, bool) {
	return unusableAs(c, eval.invalid[c])
}

func unusableAs(c *results.Case, invalid string) (outcome, bool) {
	switch c.Status {
	case results.Skipped, results.Excluded:
		return outcome{verdict: results.SkippedVerdict, message: because(c.Status, c.Reason)}, true
	case results.Error:
		return spoiled(c, because("the case ended with an error", c.Reason)), true
	}
	if invalid != "" {
		return spoiled(c, invalid), true
	}
	if len(counting(c)) == 0 {
		if c.AllVoid() {
			return allVoid(c), true
		}
		o := failed("nothing was measured: the case had no launch")
		o.undecided = []string{c.Key}
		return o, true
	}
	return outcome{}, false
}

func because(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + ": " + reason
}

package gate

import (
	"cmp"
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// measured reports whether a case has launches to judge: it was neither left out nor ended by an error.
func measured(c *results.Case) bool {
	switch c.Status {
	case results.Error, results.Skipped, results.Excluded:
		return false
	}
	return true
}

// invalid says why the values of a case cannot be used, if so. A failed launch is not a slow launch: it
// invalidates the case, because the surviving launches are a biased sample.
func invalid(c *results.Case) results.Reason {
	for _, l := range byIndex(usable(c)) {
		if l.Status != results.OK {
			text := ""
			if l.Failure != nil {
				text = l.Failure.String()
			}
			return results.Because(results.LaunchFailed, results.Text("failure", text)).At(l.Index)
		}
	}
	return invalidLaunch(c)
}

// invalidLaunch says why the values of launches that succeeded cannot be used, if so.
func invalidLaunch(c *results.Case) results.Reason {
	launches := byIndex(c.Succeeded())
	for _, l := range launches {
		if !l.Verified && wantsVerification(c) {
			return results.Because(results.Unverified).At(l.Index)
		}
		if name, v := infinite(l.Metrics); name != "" {
			return results.Because(results.MetricNotFinite, results.Text("metric", name), notANumber(v)).At(l.Index)
		}
		if b, ok := workload.As[workload.ValidityChecker](c.Workload); ok {
			if text := b.Invalid(c.ResolvedOptions(), l.Metrics); text != "" {
				return results.Because(results.WorkloadInvalid, why(text)).At(l.Index)
			}
		}
	}
	for _, r := range []results.Reason{
		sharedGPU(launches), missingLaunches(c), hardwareErrors(launches), clocksUnsynchronised(kindOf(c), launches),
	} {
		if !r.None() {
			return r
		}
	}
	return exceedsCeiling(kindOf(c), launches)
}

// sharedGPU finds ranks that shared one GPU, which did the work of both in turn.
func sharedGPU(launches []*results.Launch) results.Reason {
	for _, l := range launches {
		first := map[string]int{}
		for rank, gpu := range l.GPUs {
			if gpu == "" || rank >= len(l.Nodes) {
				continue
			}
			at := l.Nodes[rank] + " " + gpu
			other, shared := first[at]
			if shared {
				return results.Because(results.SharedGPU, results.Count("other", other, ""), results.Count("rank",
					rank, ""),
					results.Text("gpu", gpu), results.Text("node", l.Nodes[rank])).At(l.Index)
			}
			first[at] = rank
		}
	}
	return results.Reason{}
}

// infinite is the first metric by name that is not finite; "": all are.
func infinite(m results.MetricValues) (string, float64) {
	for name, v := range m.All() {
		if notFinite(v) {
			return name, v
		}
	}
	return "", 0
}

// usable returns the launches of a case that were neither retried nor discarded.
func usable(c *results.Case) []*results.Launch {
	return slices.DeleteFunc(slices.Clone(c.Launches), func(l *results.Launch) bool { return !l.Usable() })
}

// missingLaunches finds launches that are missing from the document or duplicate. Their numbers may have
// gaps: a launch may not reach a case.
func missingLaunches(c *results.Case) results.Reason {
	made := map[int]bool{}
	for _, l := range usable(c) {
		if made[l.Index] {
			return results.Because(results.LaunchTwice).At(l.Index)
		}
		made[l.Index] = true
	}
	if c.Made != 0 && c.Made != len(c.Launches) {
		return results.Because(results.LaunchesRemoved, results.Count("made", c.Made, ""),
			results.Count("stored", len(c.Launches), ""))
	}
	return results.Reason{}
}

// kindOf is the workload of a case; an empty one if unknown.
func kindOf(c *results.Case) *workload.Kind {
	if k, ok := workload.Lookup(c.Workload); ok {
		return k
	}
	return &workload.Kind{}
}

// tooFewValues says which quantile of a check has too few values to decide, and whether it may have enough
// after `most` launches.
func tooFewValues(
	d *workload.Definitions, sources []*source, subject *assertion.Expr, most int,
) (o obstacle, more bool) {
	metrics := subject.Metrics()
	for _, s := range sources {
		if s.c == nil {
			continue
		}
		for _, metric := range metrics {
			if o, more := fewSamples(d, s, metric, most, len(metrics) > 1); o.known() {
				o.why[0].Place.Case = s.key
				return o, more
			}
		}
	}
	return obstacle{}, false
}

// undecidableReason says why a metric of a check can decide nothing with any number of launches.
func undecidableReason(sources []*source, subject *assertion.Expr) results.Reason {
	metrics := subject.Metrics()
	for _, s := range sources {
		if s.c == nil {
			continue
		}
		for _, metric := range metrics {
			if r := workloadUndecided(s, metric, func(*results.Launch) bool { return true }); !r.None() {
				return r
			}
			if r := disturbedProbes(s, metric); !r.None() {
				return r
			}
		}
	}
	return results.Reason{}
}

// missingByDesign says why launches lack a metric of a subject, if that is not an error.
func missingByDesign(sources []*source, subject *assertion.Expr) results.Reason {
	metrics := subject.Metrics()
	for _, s := range sources {
		if s.c == nil {
			continue
		}
		for _, metric := range metrics {
			lacks := func(l *results.Launch) bool { _, ok := l.Metrics.Get(metric); return !ok }
			if r := workloadUndecided(s, metric, lacks); !r.None() {
				return r
			}
		}
	}
	return results.Reason{}
}

// workloadUndecided is the workload's reason why a metric of some launch decides nothing.
func workloadUndecided(s *source, metric string, about func(*results.Launch) bool) results.Reason {
	b, ok := workload.As[workload.AlwaysInconclusive](s.c.Workload)
	for _, l := range s.launches {
		if !ok || !about(l) {
			continue
		}
		if text := b.Undecidable(s.c.ResolvedOptions(), l.Metrics, metric); text != "" {
			return results.Because(results.Undecidable, results.Text("metric", metric), why(text)).In(s.key).At(l.Index)
		}
	}
	return results.Reason{}
}

// fewSamples says why a quantile of a source decides nothing, and whether it may after `most` launches.
//
// A quantile beside other metrics is taken in each launch, so each needs the values.
func fewSamples(d *workload.Definitions, s *source, metric string, most int, each bool) (o obstacle, more bool) {
	m, ok := d.Stated(s.c, metric)
	if !ok || len(s.launches) == 0 {
		return o, false
	}
	var measured []results.MetricValues
	for _, l := range s.launches {
		measured = append(measured, l.Metrics)
	}
	k := kindOf(s.c)
	options := s.c.ResolvedOptions()
	if each {
		count := func(l results.MetricValues) int64 { return k.CountOf(m, options, l) }
		measured = []results.MetricValues{slices.MinFunc(measured,
			func(a, b results.MetricValues) int { return cmp.Compare(count(a), count(b)) })}
		most = 1
	}
	n := k.SamplesOf(m, options, measured)
	text := k.FewSamples(m, n, false)
	if text == "" {
		return o, false
	}
	o.why = []results.Reason{
		results.Because(results.FewSamples, results.Text("metric", metric), results.Count("samples", int(n), ""),
			why(text)),
	}
	if set := k.MoreSamples(m, options, n, len(measured), most); set != "" {
		o.change = "set " + set
	}
	return o, k.MoreLaunchesHelp() && k.FewSamples(m, n*int64(most)/int64(len(measured)), false) == ""
}

// wantsVerification reports whether the case asked for its data to be verified.
func wantsVerification(c *results.Case) bool {
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
	var reason results.Reason
	if measured(c) {
		reason = invalid(c)
	}
	return unusableAs(c, reason)
}

func (eval *evaluator) unusable(c *results.Case) (outcome, bool) {
	return unusableAs(c, eval.invalid[c])
}

func unusableAs(c *results.Case, invalid results.Reason) (outcome, bool) {
	switch c.Status {
	case results.Skipped, results.Excluded:
		return passedOver(results.Because(results.CaseNotRun, results.Text("status", c.Status), why(c.Reason))), true
	case results.Error:
		return errorOf(c, results.Because(results.CaseError, why(c.Reason))), true
	}
	if !invalid.None() {
		return errorOf(c, invalid), true
	}
	if len(usable(c)) == 0 {
		if c.AllDiscarded() {
			return allDiscarded(c), true
		}
		o := failed(results.Because(results.NoLaunch))
		o.undecided = []string{c.Key}
		return o, true
	}
	return outcome{}, false
}

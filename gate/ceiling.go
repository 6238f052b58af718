package gate

import (
	"cmp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// aboveCeiling is the ratio to the ceiling above which a measurement is impossible. The ceiling is a short
// probe in the same launch; probe and measurement have noise of several percent, so a path at its limit
// may read 1.05. Beyond 1.10 either bytes did not travel or the probe took another path: the number says
// nothing about this path.
const aboveCeiling = 1.10

// aboveCeilingAlone is the same for a single launch with unknown noise: a probe and a measurement of
// milliseconds may differ a lot, but not by a factor of two.
const aboveCeilingAlone = 2

// pathProbe is what one launch found of its path.
type pathProbe struct {
	nodes string
	share float64 // of the probed rate, that the launch reached
	rate  float64 // probed; 0: unknown
}

// exceedsCeiling says that a case measured more than its path can carry, if so. A probe takes milliseconds and may
// be disturbed. So probes whose ranks waited for processors do not count, the best probe between the same nodes
// counts for all launches between them, and an excess within the ratio of the best to the worst probe says nothing.
func exceedsCeiling(k *workload.Kind, launches []*results.Launch) results.Reason {
	launches = slices.DeleteFunc(slices.Clone(launches), (*results.Launch).ProbeDisturbed)
	all, limit := pathProbes(k, launches)
	if len(all) == 0 {
		return results.Reason{}
	}
	best, worst := map[string]float64{}, map[string]float64{}
	for _, p := range all {
		if p.rate > 0 {
			best[p.nodes] = max(best[p.nodes], p.rate)
			worst[p.nodes] = min(cmp.Or(worst[p.nodes], p.rate), p.rate)
		}
	}
	var shares []float64
	for _, p := range all {
		if p.rate > 0 {
			p.share *= p.rate / best[p.nodes]
			limit = max(limit, best[p.nodes]/worst[p.nodes])
		}
		shares = append(shares, p.share)
	}
	e := logarithmic(shares, results.Confidence)
	if e.lo <= limit {
		return results.Reason{}
	}
	r := results.Because(results.AboveCeiling, results.Number("value", e.center*100, "%"), results.Count("n", e.n, ""),
		results.Number("limit", limit*100, "%"))
	if ci := e.ci(); ci != nil {
		r.Values = append(r.Values, results.Number("low", ci[0]*100, "%"), results.Number("high", ci[1]*100, "%"))
	}
	return r
}

// disturbedProbes says that a metric of a valid case decides nothing, because it is or depends on the probed
// ceiling and the launches measured more than their own probes.
func disturbedProbes(s *source, metric string) results.Reason {
	k := kindOf(s.c)
	path, ok := k.Behaviour.(workload.PathUser)
	if !ok || !path.Probed(metric) {
		return results.Reason{}
	}
	all, limit := pathProbes(k, s.launches)
	if len(all) == 0 {
		return results.Reason{}
	}
	var shares []float64
	for _, p := range all {
		shares = append(shares, p.share)
	}
	e := logarithmic(shares, results.Confidence)
	if e.lo <= limit {
		return results.Reason{}
	}
	return results.Because(results.ProbesDisturbed, results.Text("metric", metric),
		results.Number("value", e.center*100, "%")).In(s.key)
}

// pathProbes returns the probes of launches, and the share above which a measurement is impossible.
func pathProbes(k *workload.Kind, launches []*results.Launch) (all []pathProbe, limit float64) {
	path, ok := k.Behaviour.(workload.PathUser)
	if !ok {
		return nil, 0
	}
	for _, l := range launches {
		if share, ok := path.OfCeiling(l.Metrics); ok && share > 0 {
			rate, _ := path.Probe(l.Metrics)
			all = append(all, pathProbe{strings.Join(l.Nodes, " "), share, rate})
		}
	}
	if len(all) == 1 {
		return all, aboveCeilingAlone
	}
	return all, aboveCeiling
}

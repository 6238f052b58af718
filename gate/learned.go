package gate

import (
	"math"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// NoiseOf returns how asserted metrics vary, by earlier sessions of a scenario on similar machines.
// Unusable cases, and metrics that were 0 or unbounded in a launch, are left out. It returns an error for sessions that
// are not comparable.
func NoiseOf(docs []*results.Document) ([]results.CaseNoise, error) {
	return noiseBy(docs, func(c components, one *assertion.Noise) bool {
		if c.session.df > 0 {
			one.KnowsSessions = true
			one.Session, one.SessionDF = c.sessionNoise()
		}
		return true
	})
}

// noiseBy returns the noise of asserted metrics. add fills in the part of sessions, and says whether the metric counts.
func noiseBy(docs []*results.Document, add func(components, *assertion.Noise) bool) ([]results.CaseNoise, error) {
	if err := checkComparable(docs, true); err != nil {
		return nil, err
	}
	docs = undisturbed(docs)
	metrics := workload.DefinitionsOf(docs...)
	asserted := map[string]map[string]bool{}
	for _, d := range docs {
		for key, names := range assertedMetrics(d) {
			if asserted[key] == nil {
				asserted[key] = map[string]bool{}
			}
			for _, name := range names {
				asserted[key][name] = true
			}
		}
	}
	var out []results.CaseNoise
	keys, cases := casesByKey(docs)
	for _, key := range keys {
		of := cases[key]
		n := results.CaseNoise{Case: key, Environment: docs[0].Environment.Fingerprint}
		for _, m := range metrics.Of(of[0].Workload, of[0].Run).Definitions {
			if !asserted[key][m.Name] || unusableReason(metrics, of, m) != "" || !alwaysAbove0(of, m.Name) {
				continue
			}
			c := componentsOf(nestedOf(of, m.Name))
			if c.launch.df == 0 {
				continue
			}
			one := assertion.Noise{
				Metric: m.Name, Launch: math.Sqrt(c.launch.value), LaunchDF: c.launch.df,
				From: "history of " + wording.Counted(len(of), "session"),
			}
			if add(c, &one) {
				n.Metrics = append(n.Metrics, one)
			}
		}
		if len(n.Metrics) > 0 {
			out = append(out, n)
		}
	}
	return out, nil
}

// SessionsOf returns how asserted metrics vary between the sessions that are kept beside a baseline. It is the standard
// deviation of the means of sessions, which includes the noise of their launches. So it is larger than that of NoiseOf,
// and has as many degrees of freedom as there are sessions less one. Metrics of fewer than three sessions are left out.
func SessionsOf(docs []*results.Document) ([]results.CaseNoise, error) {
	return noiseBy(docs, func(c components, one *assertion.Noise) bool {
		one.Session, one.SessionDF = math.Sqrt(c.session.value/c.k1), c.session.df
		one.From = wording.Counted(c.sessions, "session") + " beside the baseline"
		return c.session.value > 0 && c.session.df >= 2
	})
}

// alwaysAbove0 reports whether a metric was above 0 and bounded in all usable launches: its noise is that of
// logarithms.
func alwaysAbove0(of []measuredCase, metric string) bool {
	for _, m := range of {
		for _, l := range m.Succeeded() {
			if v := l.Metrics.At(metric); !(v > 0) || math.IsInf(v, 1) {
				return false
			}
		}
	}
	return true
}

// undisturbed returns the documents with disturbed launches discarded.
func undisturbed(docs []*results.Document) []*results.Document {
	out := make([]*results.Document, len(docs))
	for i, d := range docs {
		out[i] = d.Undisturbed()
	}
	return out
}

// nestedOf returns logarithms of a metric by node set, session and launch.
func nestedOf(of []measuredCase, metric string) nested {
	sets := map[string]int{}
	var data nested
	for _, m := range of {
		launches := m.Succeeded()
		var values []float64
		for _, l := range launches {
			values = append(values, l.Metrics.At(metric))
		}
		nodes := nodesOf(launches)
		i, known := sets[nodes]
		if !known {
			i = len(data)
			sets[nodes] = i
			data = append(data, nil)
		}
		data[i] = append(data[i], logs(values))
	}
	return data
}

package gate

import (
	"math"
	"slices"
	"strings"

	"weir/assertion"
	"weir/quantity"
	"weir/results"
	"weir/workload"
)

// variances are what a metric of a case varies by, where more than its launches is known.
// between is what is known of how sessions differ.
func variances(c *results.Case, metric string, m results.MetricEstimate, between []assertion.Noise) []results.Variance {
	var out []results.Variance
	launches := c.Succeeded()
	if metric == workload.Bandwidth {
		squares, df := 0., 0.
		for _, course := range coursesOf(launches) {
			_, sd := moments(course)
			squares, df = squares+sd*sd*float64(len(course)-1), df+float64(len(course)-1)
		}
		if df > 0 {
			out = append(out, results.Variance{Of: "pieces", CV: quantity.Round(math.Sqrt(squares / df)), DF: df})
		}
	}
	known := slices.IndexFunc(between, func(n assertion.Noise) bool { return n.Metric == metric })
	hosts := onHosts(launches, metric)
	if len(out) == 0 && known < 0 && len(hosts) < 2 {
		return nil
	}
	n := 0
	for _, values := range hosts {
		n += len(values)
	}
	if n > 1 && n == m.N {
		out = append(out, betweenLaunches(hosts)...)
	}
	if known >= 0 {
		out = append(out, results.Variance{
			Of: "sessions", CV: quantity.Round(between[known].Session), DF: between[known].SessionDF,
		})
	}
	if len(out) == 1 && out[0].Of == "launches" {
		return nil
	}
	return out
}

// onHosts are logarithms of a metric of launches, by the hosts that they ran on.
func onHosts(launches []*results.Launch, metric string) [][]float64 {
	at := map[string]int{}
	var all [][]float64
	for _, l := range launches {
		v, ok := l.Metrics.Get(metric)
		if !ok || v <= 0 {
			continue
		}
		hosts := strings.Join(slices.Sorted(slices.Values(l.Nodes)), "\n")
		i, seen := at[hosts]
		if !seen {
			i = len(all)
			at[hosts], all = i, append(all, nil)
		}
		all[i] = append(all[i], math.Log(v))
	}
	return all
}

// betweenLaunches is what launches vary by and, where they ran on several sets of hosts of which one had
// more than one launch, what the hosts add: a one-way analysis of variance, in which sets of hosts
// are as sessions are in componentsOf.
func betweenLaunches(hosts [][]float64) []results.Variance {
	variance := func(of string, squares, df float64) results.Variance {
		return results.Variance{Of: of, CV: quantity.Round(math.Sqrt(max(0, squares))), DF: quantity.Round(df)}
	}
	c := componentsOf(nested{hosts})
	if len(hosts) < 2 || c.launch.df == 0 {
		all := slices.Concat(hosts...)
		_, sd := moments(all)
		return []results.Variance{variance("launches", sd*sd, float64(len(all)-1))}
	}
	return []results.Variance{
		variance("launches", c.launch.value, c.launch.df),
		variance("hosts", c.sessionVariance(), c.sessionDF()),
	}
}

// sessionsOf is what history, or the references of assertions, say of how sessions differ, by case.
func (eval *evaluator) sessionsOf() map[string][]assertion.Noise {
	out := map[string][]assertion.Noise{}
	add := func(key string, list []assertion.Noise) {
		for _, n := range list {
			if n.KnowsSessions && (n.Case == "" || n.Case == key) {
				out[key] = append(out[key], n)
			}
		}
	}
	for _, c := range eval.doc.Cases {
		for _, a := range c.Assertions {
			add(c.Key, a.Noise)
		}
	}
	for _, n := range eval.doc.Noise {
		if n.Environment == "" || n.Environment == eval.doc.Environment.Fingerprint {
			add(n.Case, n.Metrics)
		}
	}
	return out
}

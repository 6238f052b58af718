package gate

import (
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// variances lists the variance components of a metric of a case, if more than its launches are known.
// between is the known variance between sessions.
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

// onHosts groups logarithms of a metric by the hosts of the launches.
func onHosts(launches []*results.Launch, metric string) [][]float64 {
	at := map[string]int{}
	var all [][]float64
	var nodes []string
	i := 0
	for _, l := range launches {
		v, ok := l.Metrics.Get(metric)
		if !ok || v <= 0 {
			continue
		}
		if all == nil || !slices.Equal(nodes, l.Nodes) {
			nodes = l.Nodes
			hosts := strings.Join(slices.Sorted(slices.Values(nodes)), "\n")
			seen := false
			if i, seen = at[hosts]; !seen {
				i = len(all)
				at[hosts], all = i, append(all, nil)
			}
		}
		all[i] = append(all[i], math.Log(v))
	}
	return all
}

// betweenLaunches is the variance of launches and, if they ran on several sets of hosts with repeated
// launches, of hosts: a one-way analysis of variance as in componentsOf, with sets of hosts for sessions.
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

// sessionsOf is the known variance between sessions by case, from history or the assertions' references.
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

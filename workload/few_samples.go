package workload

import (
	"fmt"
	"math"
	"strings"

	"weir/results"
)

// CountOf is of how many values of a launch a quantile is, by what the launch measured, else by
// the options of its case; 0: nobody knows. Without a launch it is what options let expect, at most.
func (k *Kind) CountOf(m Metric, options map[string]any, measured MetricValues) int64 {
	if m.CountedBy == "" {
		return 0
	}
	if n, ok := measured.Get(m.CountedBy); ok && n > 0 && n < math.MaxInt64 {
		return int64(n)
	}
	if k.Expected != nil {
		if n := k.Expected(options, m.CountedBy); n > 0 {
			return n
		}
	}
	o, ok := k.Option(m.CountedBy)
	if !ok || o.Type != Count {
		return 0
	}
	v, given := options[m.CountedBy]
	if !given {
		v = o.Default
	}
	switch n := v.(type) {
	case int64:
		return n
	case int:
		return int64(n)
	case float64: // as documents have it
		if n > 0 && n < math.MaxInt64 {
			return int64(n)
		}
	}
	return 0
}

// SamplesOf is of how many values a quantile is over launches: those of all launches together, or, in a kind
// whose quantiles take more (Quantiles), those of the launch that has fewest. 0: nobody knows.
func (k *Kind) SamplesOf(m Metric, options map[string]any, launches []MetricValues) int64 {
	var all, fewest int64
	for i, measured := range launches {
		n := k.CountOf(m, options, measured)
		if n == 0 {
			return 0
		}
		all += n
		if i == 0 || n < fewest {
			fewest = n
		}
	}
	if k.Quantiles != nil {
		return fewest
	}
	return all
}

// FewSamples says why a quantile of so many values decides nothing: its level takes more
// (Quantiles, else results.Quantile.Enough). "": these are enough, or nobody counts.
func (k *Kind) FewSamples(m Metric, n int64) string {
	q, ok := m.Level()
	if !ok || n == 0 {
		return ""
	}
	enough, ask := results.Quantile.Enough, "it takes %d"
	if k.Quantiles != nil {
		enough = k.Quantiles
	}
	if n >= enough(q) {
		return ""
	}
	if _, ok := k.Option(m.CountedBy); ok {
		ask = "ask for " + m.CountedBy + " >= %d"
	}
	return fmt.Sprintf("%s is of %d %s, which are too few for it: "+ask, m.Name, n, counted(m.CountedBy), enough(q))
}

// counted are what a metric or an option counts: requests.stamped are stamped requests.
func counted(name string) string {
	of, which, two := strings.Cut(name, ".")
	if !two {
		return name
	}
	return which + " " + of
}

package workload

import (
	"fmt"
	"maps"
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
	enough, ask := k.enough(q), "it takes %d"
	if n >= enough {
		return ""
	}
	if _, ok := k.Option(m.CountedBy); ok {
		ask = "ask for " + m.CountedBy + " >= %d"
	}
	return fmt.Sprintf("%s is of %d %s, which are too few for it: "+ask, m.Name, n, counted(m.CountedBy), enough)
}

func (k *Kind) enough(q results.Quantile) int64 {
	if k.Quantiles != nil {
		return k.Quantiles(q)
	}
	return q.Enough()
}

// MoreSamples is what to set so that a quantile is of enough values, of which so many launches had n and most
// of them may be made: "requests: 1000", "iterations: 400" or "launches: 20". "": nobody knows.
func (k *Kind) MoreSamples(m Metric, options map[string]any, n int64, launches, most int) string {
	q, ok := m.Level()
	if !ok || launches < 1 || most < 1 {
		return ""
	}
	all := k.enough(q)
	each := all
	if k.Quantiles == nil {
		each = (all + int64(most) - 1) / int64(most)
	}
	if _, ok := k.Option(m.CountedBy); ok {
		return fmt.Sprintf("%s: %d", m.CountedBy, each)
	}
	if more := k.moreIterations(m, options, each); more > 0 {
		return fmt.Sprintf("%s: %d", iterations, more)
	}
	if k.Quantiles == nil && n > 0 {
		return fmt.Sprintf("launches: %d", (all*int64(launches)+n-1)/n)
	}
	return ""
}

// iterations is the option from which it follows how many values a launch has, in kinds that have it.
const iterations = "iterations"

// moreIterations is a number with one digit of iterations that gives a launch so many values; 0: there is none.
func (k *Kind) moreIterations(m Metric, options map[string]any, each int64) int64 {
	o, ok := k.Option(iterations)
	if !ok || k.Expected == nil {
		return 0
	}
	with := maps.Clone(options)
	for unit := int64(10); unit < o.Max/10; unit *= 10 {
		for digit := int64(1); digit < 10; digit++ {
			with[iterations] = digit * unit
			if k.Expected(with, m.CountedBy) >= each {
				return digit * unit
			}
		}
	}
	return 0
}

// counted are what a metric or an option counts: requests.stamped are stamped requests.
func counted(name string) string {
	of, which, two := strings.Cut(name, ".")
	if !two {
		return name
	}
	return which + " " + of
}

package workload

import (
	"fmt"
	"maps"
	"math"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

// CountOf returns the number of values of a launch that a quantile is computed from: as the launch measured it, else
// the most that the options of its case imply. 0: unknown.
func (k *Kind) CountOf(m Metric, options map[string]any, measured MetricValues) int64 {
	if m.CountedBy == "" {
		return 0
	}
	if n, ok := measured.Get(m.CountedBy); ok && n > 0 && n < math.MaxInt64 {
		return int64(n)
	}
	if e, ok := k.Behaviour.(Expecter); ok {
		if _, most := e.Expected(options, m.CountedBy); most > 0 {
			return most
		}
	}
	o, ok := k.Option(m.CountedBy)
	if !ok || o.Type != option.Count {
		return 0
	}
	v, given := options[m.CountedBy]
	if !given {
		v = o.Default
	}
	return wholeNumber(v)
}

// wholeNumber is the value of a count; 0: it is none.
func wholeNumber(v any) int64 {
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

// SamplesOf returns the number of values that a quantile over launches is computed from: the sum over all launches,
// or the minimum in a kind that counts each launch (QuantileCounter). 0: unknown.
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
	if !k.MoreLaunchesHelp() {
		return fewest
	}
	return all
}

// FewSamples says why n values are too few for a quantile (QuantileCounter, else results.Quantile.Enough), with one
// look or at the last of several. "": they are enough, or n is unknown.
func (k *Kind) FewSamples(m Metric, n int64, several bool) string {
	q, ok := m.Level()
	if !ok || n == 0 {
		return ""
	}
	enough := k.enough(q)
	if several {
		enough = k.withLooks(enough)
	}
	if n >= enough {
		return ""
	}
	return fmt.Sprintf("%d %s are too few for %s: it takes %d", n, counted(m.CountedBy), m.Name, enough)
}

func (k *Kind) enough(q results.Quantile) int64 {
	if c, ok := k.Behaviour.(QuantileCounter); ok {
		return c.Quantiles(q)
	}
	return q.Enough()
}

// withLooks is the number of values of all launches that the last of several looks takes: it has only a part of the
// error, a quarter with the usual looks, so ln(0.25·0.02)/ln(0.02) = 1.35 times as many.
func (k *Kind) withLooks(enough int64) int64 {
	if !k.MoreLaunchesHelp() {
		return enough
	}
	return (enough*7 + 4) / 5
}

// MoreLaunchesHelp reports whether quantiles are computed from the values of all launches together, not of each.
func (k *Kind) MoreLaunchesHelp() bool { _, each := k.Behaviour.(QuantileCounter); return !each }

// MoreSamples suggests a setting that gives a quantile enough values: "requests: 1000", "iterations: 400" or
// "launches: 20". So far the given launches had n values, and at most maxLaunches may run. A session that ended with
// fewer launches may do so again, so each must have its share of the values. "": unknown.
func (k *Kind) MoreSamples(m Metric, options map[string]any, n int64, launches, maxLaunches int) string {
	q, ok := m.Level()
	if !ok || launches < 1 || maxLaunches < 1 {
		return ""
	}
	all := k.withLooks(k.enough(q))
	each := all
	if k.MoreLaunchesHelp() {
		share := int64(min(launches, maxLaunches))
		each = (all + share - 1) / share
	}
	if l, ok := k.Behaviour.(Lengthener); ok {
		if set := l.Longer(options, n, each); set != "" {
			return set
		}
	}
	if _, ok := k.Option(m.CountedBy); ok {
		return fmt.Sprintf("%s: %d", m.CountedBy, each)
	}
	if more := k.moreIterations(m, options, each); more > 0 {
		return fmt.Sprintf("%s: %d", iterations, more)
	}
	if k.MoreLaunchesHelp() && n > 0 {
		return fmt.Sprintf("launches: %d", (all*int64(launches)+n-1)/n)
	}
	return ""
}

// iterations is the option that decides the number of values of a launch, in kinds that have it.
const iterations = "iterations"

// moreIterations returns a round number of iterations, above the present one, that gives a launch at least each values;
// 0: there is none.
func (k *Kind) moreIterations(m Metric, options map[string]any, each int64) int64 {
	o, ok := k.Option(iterations)
	e, expects := k.Behaviour.(Expecter)
	if !ok || !expects {
		return 0
	}
	present, given := options[iterations]
	if !given {
		present = o.Default
	}
	had := wholeNumber(present)
	with := maps.Clone(options)
	for unit := int64(10); unit < o.Max/10; unit *= 10 {
		for digit := int64(1); digit < 10; digit++ {
			if digit*unit <= had {
				continue
			}
			with[iterations] = digit * unit
			if least, _ := e.Expected(with, m.CountedBy); least >= each {
				return digit * unit
			}
		}
	}
	return 0
}

// counted returns what a metric or an option counts: "stamped requests" for requests.stamped.
func counted(name string) string {
	of, which, two := strings.Cut(name, ".")
	if !two {
		return name
	}
	return which + " " + of
}

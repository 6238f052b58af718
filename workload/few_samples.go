package workload

import (
	"fmt"
	"math"
	"strings"
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

// FewSamples says why a quantile of a launch decides nothing, however many launches there are: fewer
// than ten of the values that it is of are beyond it. "": enough are, or nobody counts.
func (k *Kind) FewSamples(m Metric, options map[string]any, measured MetricValues) string {
	q, ok := m.Level()
	n := k.CountOf(m, options, measured)
	if !ok || n == 0 || !q.TooFew(n) {
		return ""
	}
	ask := "it takes %d"
	if _, ok := k.Option(m.CountedBy); ok {
		ask = "ask for " + m.CountedBy + " >= %d"
	}
	return fmt.Sprintf("%s of %d %s: fewer than ten are beyond it; "+ask, m.Name, n, counted(m.CountedBy), q.Enough())
}

// counted are what a metric or an option counts: requests.stamped are stamped requests.
func counted(name string) string {
	of, which, two := strings.Cut(name, ".")
	if !two {
		return name
	}
	return which + " " + of
}

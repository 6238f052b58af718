package history

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"weir/results"
)

// reading is what one document says to a query.
type reading struct {
	has            bool   // the case
	reason         string // why it has no value of the metric
	point          Point
	unit, better   string
	cases, metrics []string // that could have been meant instead
}

// readings reads the documents of entries, several at once: that is what takes time.
func (s Store) readings(entries []Entry, q Query) []reading {
	out := make([]reading, len(entries))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, e := range entries {
		g.Go(func() error {
			out[i] = s.reading(e, q)
			return nil
		})
	}
	_ = g.Wait() // what is wrong with a document stands in its reading
	return out
}

func (s Store) reading(e Entry, q Query) reading {
	doc, err := results.Read(filepath.Join(s.Dir, e.File))
	if err != nil { // changed since it was listed
		return reading{reason: err.Error()}
	}
	var r reading
	c := doc.Case(q.Case)
	if c == nil {
		for _, other := range doc.Cases {
			r.cases = append(r.cases, other.Key)
		}
		return r
	}
	r.has = true
	m, ok := c.Metrics.Get(q.Metric)
	if r.reason = unusable(c, q.Metric, ok); r.reason != "" {
		r.metrics = c.Metrics.Names()
		return r
	}
	r.unit, r.better = m.Unit, m.Better
	r.point = Point{
		Session: e.Session, File: e.File, Started: e.Started, Value: m.Value, CI: m.CI, N: m.N,
		Fingerprint: e.Fingerprint, Simulated: c.Simulated(), of: stripped(doc, c, q.Metric),
		launches: launchesOf(c, q.Metric),
	}
	return r
}

// stripped is what of a document a difference of a metric may be in. The whole of many sessions would
// take too much memory.
func stripped(doc *results.Document, c *results.Case, metric string) *results.Document {
	one := *c
	one.Metrics, one.Assertions, one.Launches = results.Named[results.MetricEstimate]{}, nil, nil
	for _, l := range c.Launches {
		part := *l
		part.Metrics, part.Samples, part.Played = results.MetricValues{}, nil, nil
		if v, ok := l.Metrics.Get(metric); ok {
			part.Metrics.Set(metric, v)
		}
		one.Launches = append(one.Launches, &part)
	}
	return &results.Document{
		Session: results.Session{Simulated: doc.Session.Simulated}, Weir: doc.Weir, Quantiles: doc.Quantiles,
		Scenario: doc.Scenario, Environment: doc.Environment, Cases: []*results.Case{&one},
	}
}

// differences are those of two sessions that were stripped.
func differences(before, after *results.Document) []results.Difference {
	out := append([]results.Difference{}, results.EnvironmentDifferences(before, after)...)
	for _, d := range results.CaseDifferences([]results.CasePair{{Base: before.Cases[0], New: after.Cases[0]}}) {
		d.Of = nil // there is one case
		out = append(out, d)
	}
	return out
}

// unusable says why a case has no value of a metric, "" if it has.
func unusable(c *results.Case, metric string, has bool) string {
	switch {
	case c.Status != results.OK:
		return strings.TrimSuffix("the case is "+c.Status+": "+c.Reason, ": ")
	case c.Invalid != "":
		return "the case is invalid: " + c.Invalid
	case c.Undisturbed() != c:
		return "launches of it were disturbed, and counted for the gates of their session only"
	case !has:
		return "the case has no metric " + metric
	}
	return ""
}

// join is all texts of two lists, each once, in order.
func join(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

package history

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/results"
)

// reading is the result of a query on one document.
type reading struct {
	has            bool   // the document has the case
	reason         string // why there is no value of the metric
	point          Point
	unit, better   string
	cases, metrics []string // existing names
}

// readings reads the documents of entries concurrently.
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
	_ = g.Wait() // errors are in the readings
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
		Fingerprint: e.Fingerprint, Simulated: c.Simulated(), of: reduced(doc, c, q.Metric),
		launches: launchesOf(c, q.Metric),
	}
	return r
}

// reduced keeps the parts of a document that may explain a change of a metric: complete documents of many
// sessions would take too much memory.
func reduced(doc *results.Document, c *results.Case, metric string) *results.Document {
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

// differences compares two reduced sessions.
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
		return "its launches were disturbed, and counted for the gates of their session only"
	case !has:
		return "the case has no metric " + metric
	}
	return ""
}

// join returns the distinct texts of two lists, in order.
func join(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

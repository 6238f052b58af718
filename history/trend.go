package history

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// Query selects the series of one metric of one case.
type Query struct {
	Case, Metric string
	Scenario     string  // "": the only one with the case
	Environment  string  // prefix of a fingerprint; "": any
	Significance float64 // largest p-value of a change, between 0 and 1
	// Magnitude is the smallest reported change between two levels, as a share: 0.03.
	Magnitude float64
}

// Trend is a metric of a case over the sessions of a store.
type Trend struct {
	Schema       string    `json:"schema"`
	Scenario     string    `json:"scenario"`
	Case         string    `json:"case"`
	Workload     string    `json:"workload"`
	Metric       string    `json:"metric"`
	Unit         string    `json:"unit"`
	Better       string    `json:"better"` // higher | lower | "": neither
	Significance float64   `json:"significance"`
	Magnitude    float64   `json:"magnitude"`
	Smaller      int       `json:"smaller"`  // significant changes below the magnitude
	Points       []Point   `json:"points"`   // by time
	Levels       []Level   `json:"levels"`   // between changes, one more than these
	Changes      []Change  `json:"changes"`  // by time
	Drifts       []Drift   `json:"drifts"`   // by time
	LeftOut      []Problem `json:"left_out"` // files without such a value, and why
	// Definitions are the definitions of the metric, if sessions differ.
	Definitions []string `json:"definitions,omitempty"`
}

// Point is the estimate of one session over its launches, in the trend's unit.
type Point struct {
	Session     string      `json:"session"`
	File        string      `json:"file"`
	Started     time.Time   `json:"started"`
	Value       float64     `json:"value"`
	CI          *[2]float64 `json:"ci"`
	N           int         `json:"n"` // launches
	Fingerprint string      `json:"fingerprint"`
	Simulated   bool        `json:"simulated,omitempty"`

	of       *results.Document // reduced document, to explain a change
	launches []float64         // usable values
}

// Weir is the version of weir that measured the point; zero: unknown.
func (p Point) Weir() results.Version {
	if p.of == nil {
		return results.Version{}
	}
	return p.of.Weir
}

// Level is the mean of the points From to To-1, weighted by their launches: geometric if all values are
// positive, because rates and times differ by ratios. CI is a t-interval over sessions with
// results.Confidence; nil if all points are equal.
type Level struct {
	From  int         `json:"from"`
	To    int         `json:"to"`
	Value float64     `json:"value"`
	CI    *[2]float64 `json:"ci"`
}

// Change is a change of level between two consecutive sessions.
type Change struct {
	At     int    `json:"at"` // first point of the new level
	Before string `json:"before"`
	After  string `json:"after"` // sessions
	// Raised is the session with which it was first reported; later sessions never retract it.
	Raised string   `json:"raised"`
	Ratio  *float64 `json:"ratio"`  // of the levels; nil if their signs differ
	Effect string   `json:"effect"` // better | worse | other
	// P is the probability of an equally significant change at any session, in histories of 30 sessions
	// without a change and with a correlation of 0.5 between neighbours.
	P float64 `json:"p"`
	// Differ lists the differences between the two sessions and in their case.
	Differ []results.Difference `json:"differences"`
}

// Trend reads all documents of the store and detects changes. The result depends on the documents only.
func (s Store) Trend(q Query) (*Trend, error) {
	entries, problems, err := s.List()
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(e Entry) bool {
		return q.Scenario != "" && e.Scenario != q.Scenario ||
			!strings.HasPrefix(strings.TrimPrefix(e.Fingerprint, "sha256:"),
				strings.TrimPrefix(q.Environment, "sha256:"))
	})
	t := &Trend{
		Schema: "weir.trend/v1", Case: q.Case, Metric: q.Metric, Significance: q.Significance, Magnitude: q.Magnitude,
		Points: []Point{}, Levels: []Level{}, Changes: []Change{}, Drifts: []Drift{}, LeftOut: problems,
	}
	missing := &MissingError{Case: q.Case, Metric: q.Metric}
	var scenarios []string
	for i, r := range s.readings(entries, q) {
		e := entries[i]
		missing.Cases, missing.Metrics = join(missing.Cases, r.cases), join(missing.Metrics, r.metrics)
		if r.has {
			missing.CaseKnown = true
			scenarios = join(scenarios, []string{e.Scenario})
		}
		switch {
		case r.reason != "":
			t.LeftOut = append(t.LeftOut, Problem{e.File, r.reason})
		case !r.has:
		case len(t.Points) > 0 && r.unit != t.Unit:
			t.LeftOut = append(t.LeftOut, Problem{
				e.File, fmt.Sprintf("%s is in %s there, not in %s", q.Metric, r.unit, t.Unit),
			})
		default:
			t.Scenario, t.Workload, t.Unit, t.Better = e.Scenario, r.point.of.Cases[0].Workload, r.unit, r.better
			t.Points = append(t.Points, r.point)
		}
	}
	if len(scenarios) > 1 {
		return nil, &AmbiguousError{Case: q.Case, Scenarios: scenarios}
	}
	if len(t.Points) == 0 {
		return nil, missing
	}
	t.Definitions = t.definitions()
	t.detect()
	return t, nil
}

// definitions lists the metric's definitions in the order of sessions; nil if all are equal.
func (t *Trend) definitions() []string {
	var all []string
	for _, p := range t.Points {
		if d := p.of.DefinitionOf(t.Workload, t.Metric); !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// detect sets the changes and the levels between them.
func (t *Trend) detect() {
	s := seriesOf(t.Points)
	from := 0
	cuts, drifts := detectChanges(s, t.Significance, t.Magnitude)
	for _, d := range drifts {
		t.Drifts = append(t.Drifts, d.reported(t, s))
	}
	for _, c := range cuts {
		if c.reported == 0 {
			t.Smaller++
			continue
		}
		t.Levels = append(t.Levels, s.level(from, c.at))
		from = c.at
		before, after := t.Points[c.at-1], t.Points[c.at]
		t.Changes = append(t.Changes, Change{
			At: c.at, Before: before.Session, After: after.Session, Raised: t.Points[c.reported].Session, P: c.p,
			Differ: differences(before.of, after.of),
		})
	}
	t.Levels = append(t.Levels, s.level(from, len(s.values)))
	for i := range t.Changes {
		c := &t.Changes[i]
		was, is := t.Levels[i].Value, t.Levels[i+1].Value
		if s.ratio {
			r := min(quantity.Round(is/was), math.MaxFloat64)
			c.Ratio = &r
		}
		c.Effect = effect(was, is, t.Better)
	}
}

// dropSmall removes changes below a magnitude, smallest first, and merges their levels, as other daily
// detectors do (Hunter: M. Fleming et al., arXiv:2301.03034): a significant change need not be relevant.
func dropSmall(cuts []changePoint, s series, magnitude float64) []changePoint {
	cuts = slices.Clone(cuts)
	for {
		least, smallest := -1, magnitude
		for i, c := range cuts {
			from, to := 0, len(s.values)
			if i > 0 {
				from = cuts[i-1].at
			}
			if i+1 < len(cuts) {
				to = cuts[i+1].at
			}
			if by := relativeDistance(s.segmentMedian(from, c.at), s.segmentMedian(c.at, to)); by < smallest {
				least, smallest = i, by
			}
		}
		if least < 0 {
			return cuts
		}
		cuts = slices.Delete(cuts, least, least+1)
	}
}

// relativeDistance is the difference of two levels as a share of the smaller one; of the larger if their
// signs differ.
func relativeDistance(a, b float64) float64 {
	small, large := min(math.Abs(a), math.Abs(b)), max(math.Abs(a), math.Abs(b))
	switch {
	case a == b:
		return 0
	case a*b > 0:
		return large/small - 1
	}
	return math.Abs(a-b) / large
}

func effect(was, is float64, better string) string {
	switch {
	case better != "higher" && better != "lower":
		return "other"
	case is > was == (better == "higher"):
		return "better"
	}
	return "worse"
}

// segmentMedian is the median of a segment in the metric's unit. Unlike the mean it ignores the first
// sessions of a new level not found yet.
func (s series) segmentMedian(from, to int) float64 {
	x := slices.Sorted(slices.Values(s.values[from:to]))
	v := (x[(len(x)-1)/2] + x[len(x)/2]) / 2
	if s.ratio {
		v = math.Exp(v)
	}
	return v
}

// level estimates the weighted mean of a segment.
func (s series) level(from, to int) Level {
	n, x := float64(to-from), s.values[from:to]
	weights, sum := make([]float64, len(x)), 0.
	for i, sd := range s.spread[from:to] {
		weights[i] = 1 / (sd * sd)
		sum += weights[i]
	}
	mean, half := x[0], 0.
	if slices.Min(x) != slices.Max(x) {
		mean = stat.Mean(x, weights)
		squares := 0.
		for i, v := range x {
			squares += weights[i] * (v - mean) * (v - mean)
		}
		half = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile((1+results.Confidence)/2) *
			math.Sqrt(squares/(n-1)/sum)
	}
	back := quantity.Round
	if s.ratio {
		back = func(v float64) float64 { return min(quantity.Round(math.Exp(v)), math.MaxFloat64) }
	}
	l := Level{From: from, To: to, Value: back(mean)}
	if half > 0 {
		l.CI = &[2]float64{back(mean - half), back(mean + half)}
	}
	return l
}

package gate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

var looks = []int{3, 5, 8, 12}

// metric is a subject of one metric.
func metric(name, unit string) *assertion.Expr {
	return &assertion.Expr{Op: assertion.Metric, Metric: name, Unit: unit}
}

// band is a gate assertion on bandwidth; NaN-free pointers make open ends.
func band(lower, upper *float64, at []int) *results.AssertionVerdict {
	return &results.AssertionVerdict{
		Assertion: assertion.Assertion{
			Name: "bw", Severity: assertion.Gate, Subject: metric("bandwidth", "GB/s"), Unit: "GB/s",
			Bounds: assertion.Bounds{Lower: lower, Upper: upper},
		},
		Looks: at,
	}
}

func p(v float64) *float64 { return &v }

// caseOf is a transfer case with these bandwidths of its launches.
func caseOf(key string, values ...float64) *results.Case {
	c := &results.Case{
		Key: key, Run: "run", Workload: "transfer", Status: results.OK,
		Axes: map[string]any{"block_size": key}, Options: map[string]any{"verify": "sample"},
	}
	for i, v := range values {
		c.Launches = append(c.Launches, &results.Launch{
			Index: i, Status: results.OK, Verified: true, Nodes: []string{"n1", "n1"},
			Metrics: results.ValuesOf(map[string]float64{"bandwidth": v}),
		})
	}
	return c
}

func docOf(cases ...*results.Case) *results.Document {
	return &results.Document{Schema: results.Schema, Cases: cases}
}

// judged judges a document of one case with one assertion.
func judged(c *results.Case, a *results.AssertionVerdict) *results.Document {
	c.Assertions = []*results.AssertionVerdict{a}
	doc := docOf(c)
	Judge(doc)
	return doc
}

func trend(direction string, tolerance float64, at []int, keys ...string) *results.AssertionVerdict {
	return &results.AssertionVerdict{
		Assertion: assertion.Assertion{
			Name: "trend", Severity: assertion.Gate, Subject: metric("bandwidth", "GB/s"), Unit: "GB/s",
			Trend: &assertion.Trend{Axis: "block_size", Direction: direction, Tolerance: tolerance},
			Cases: keys,
		},
		Looks: at,
	}
}

// known is an assertion with what is known of the noise of the bandwidth beforehand.
func known(launch float64, a *results.AssertionVerdict) *results.AssertionVerdict {
	a.Noise = []assertion.Noise{{Metric: "bandwidth", Launch: launch, From: "reference t"}}
	return a
}

// series makes one case for each list of values, with the keys c0, c1 and so on.
func series(lists ...[]float64) ([]*results.Case, []string) {
	var cases []*results.Case
	var keys []string
	for i, vs := range lists {
		key := fmt.Sprintf("c%d", i)
		cases = append(cases, caseOf(key, vs...))
		keys = append(keys, key)
	}
	return cases, keys
}

func wantVerdict(t *testing.T, a *results.AssertionVerdict, want results.Verdict) {
	t.Helper()
	if a.Verdict != want {
		t.Errorf("verdict %s, want %s: %s", a.Verdict, want, a.Message)
	}
}

// of is a metric of another case.
func of(key, name, unit string) *assertion.Expr {
	return &assertion.Expr{Op: assertion.Metric, Metric: name, Unit: unit, Case: key}
}

func ratio(a, b *assertion.Expr) *assertion.Expr {
	return &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{a, b}}
}

// against is a gate assertion on the bandwidth of its case as a ratio to another's.
func against(key string, lower, upper *float64, at []int) *results.AssertionVerdict {
	a := band(lower, upper, at)
	a.Subject, a.Unit = ratio(metric("bandwidth", "GB/s"), of(key, "bandwidth", "GB/s")), ""
	return a
}

// began gives the launches of some cases start times in the order of the indexes
// given for each, one second after the other.
func began(order []int, cases ...*results.Case) {
	next := make([]int, len(cases))
	for at, i := range order {
		cases[i].Launches[next[i]].Started = time.Date(2026, 11, 21, 10, 0, at, 0, time.UTC)
		next[i]++
	}
}

// quantified is an all() or any() over the bandwidth of some cases.
func quantified(word string, lower *float64, at []int, keys ...string) *results.AssertionVerdict {
	a := &results.AssertionVerdict{
		Assertion: assertion.Assertion{Name: word, Severity: assertion.Gate, Quantifier: word, Cases: keys}, Looks: at,
	}
	for _, k := range keys {
		a.Parts = append(a.Parts, assertion.Part{
			Subject: of(k, "bandwidth", "GB/s"), Unit: "GB/s", Bounds: assertion.Bounds{Lower: lower}, Case: k,
		})
	}
	return a
}

// has says whether one of some reasons is of a kind and has these places and values: "below lower=40
// case=c". "" is any.
func has(all []results.Reason, want string) bool {
	kind, values, _ := strings.Cut(want, " ")
	return want == "" || slices.ContainsFunc(all, func(r results.Reason) bool {
		of := map[string]string{}
		for _, v := range slices.Backward(r.Values) { // the first of a name counts
			if of[v.Name] = v.Text; v.Text == "" {
				of[v.Name] = fmt.Sprintf("%.4g", v.Number)
			}
		}
		if of["case"] = r.Place.Case; r.Place.Launch > 0 {
			of["launch"] = fmt.Sprint(r.Place.Launch)
		}
		return r.Kind == results.ReasonKind(kind) && !slices.ContainsFunc(strings.Fields(values), func(v string) bool {
			name, value, _ := strings.Cut(v, "=")
			return of[name] != value
		})
	})
}

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// Limits of the power analysis: assertions of a plan, and simulated sessions for each true value.
const (
	mostPowers    = 3
	powerSessions = 200
)

// powerTruths are the true values of the power analysis, relative to the bound.
var powerTruths = []float64{0.94, 0.96, 0.98, 1, 1.02, 1.04, 1.06, 1.1}

// writePower prints the probabilities of the verdicts at several true values, for the noise of references
// or earlier sessions, by the same rule as verdicts.
func writePower(w io.Writer, p *planner.Plan, noise []results.CaseNoise) error {
	known := noiseByCase(noise)
	looks := map[string][]int{}
	for _, g := range p.Groups {
		for _, key := range g.Cases {
			looks[key] = g.Looks
		}
	}
	said := map[string]bool{}
	for _, c := range p.Cases {
		for _, a := range c.Assertions {
			if len(a.Noise) == 0 && a.Subject != nil {
				a.Noise = noiseOf(known[c.Key], a.Subject.Metrics())
			}
			name := a.Lowered + fmt.Sprint(looks[c.Key], a.Noise)
			if said[name] || len(said) == mostPowers || a.Bounds == (assertion.Bounds{}) {
				continue
			}
			bound := a.Bounds.Lower
			if bound == nil {
				bound = a.Bounds.Upper
			}
			var truths []float64
			for _, share := range powerTruths {
				truths = append(truths, quantity.Round(*bound*share))
			}
			rows, ok := gate.PowerOf(a, looks[c.Key], truths, powerSessions)
			if !ok {
				continue
			}
			said[name] = true
			fmt.Fprintf(w, "\npower of %s in %s, with launches that vary by %s%% (%s), looks after %s:\n",
				a.Inequality(), c.Key, quantity.Digits(a.Noise[0].Launch*100, 2), a.Noise[0].From,
				strings.Trim(fmt.Sprint(looks[c.Key]), "[]"))
			t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
			fmt.Fprintln(t, "true value\tpass\tfail\tinconclusive\tlaunches\t")
			for _, r := range rows {
				fmt.Fprintf(t, "%s\t%.0f%%\t%.0f%%\t%.0f%%\t%.1f\t\n", quantity.Format(r.Truth, a.Unit), r.Pass*100,
					r.Fail*100, r.Inconclusive*100, r.Launches)
			}
			if err := t.Flush(); err != nil {
				return fmt.Errorf("writing the power: %w", err)
			}
		}
	}
	return nil
}

func noiseByCase(noise []results.CaseNoise) map[string][]assertion.Noise {
	out := map[string][]assertion.Noise{}
	for _, n := range noise {
		out[n.Case] = n.Metrics
	}
	return out
}

// noiseOf is the noise of some metrics.
func noiseOf(known []assertion.Noise, metrics []string) (out []assertion.Noise) {
	for _, n := range known {
		if slices.Contains(metrics, n.Metric) {
			out = append(out, n)
		}
	}
	return out
}

// writeDoubts prints the assertions that no number of launches can decide; the rows of cases have the other doubts.
func writeDoubts(w io.Writer, p *planner.Plan, noise []results.CaseNoise) error {
	for _, d := range input.Doubts(p, noise) {
		if d.OfLaunches() {
			if _, err := fmt.Fprintf(w, "\n%s\n", input.DoubtLine(d)); err != nil {
				return fmt.Errorf("writing what will be inconclusive: %w", err)
			}
		}
	}
	return nil
}

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"weir/assertion"
	"weir/gate"
	"weir/planner"
	"weir/quantity"
)

// A plan estimates the power of its assertions: of that many at most, from that many
// simulated sessions for each true value.
const (
	mostPowers    = 3
	powerSessions = 200
)

// powerTruths are the true values that are tried, as shares of the bound.
var powerTruths = []float64{0.94, 0.96, 0.98, 1, 1.02, 1.04, 1.06, 1.1}

// writePower says, before anything runs, what would become of sessions whose noise is what
// the references say, by the rule that verdicts are found by.
func writePower(w io.Writer, p *planner.Plan) error {
	looks := map[string][]int{}
	for _, g := range p.Groups {
		for _, key := range g.Cases {
			looks[key] = g.Looks
		}
	}
	said := map[string]bool{}
	for _, c := range p.Cases {
		for _, a := range c.Assertions {
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
			fmt.Fprintf(
				w,
				"\npower of %s in %s, with launches that vary by %s%% (%s), looks after %s:\n",
				a.Lowered,
				c.Key,
				quantity.Digits(
					a.Noise[0].Launch*100,
					2,
				),
				a.Noise[0].From,
				strings.Trim(fmt.Sprint(looks[c.Key]), "[]"),
			)
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

// Plans as text: assertions and policies.

package planner

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
)

// textAssertion formats an assertion with its bounds and settings.
func textAssertion(a assertion.Assertion) string {
	s := string(a.Severity) + " " + a.Inequality()
	if a.Halo > 0 {
		s += fmt.Sprintf(", halo %g%%", quantity.Round(a.Halo*100))
	}
	if a.Multiple != "" {
		s += ", " + a.Multiple
	}
	if d := a.Decide; d != nil && d.Confidence > 0 {
		s += fmt.Sprintf(", %g%% confidence", quantity.Round(d.Confidence*100))
	}
	if d := a.Decide; d != nil && d.OnInconclusive != "" {
		s += ", if inconclusive " + d.OnInconclusive
	}
	if a.XFail != nil {
		s += ", expected to fail"
		if a.XFail.Ceiling > 0 {
			s += fmt.Sprintf(" by up to %g%%", quantity.Round(a.XFail.Ceiling*100))
		}
		s += " until " + a.XFail.Until + ": " + a.XFail.Why()
	}
	return s
}

// asserted are the assertions of a case, each with a line for its bounds and for what will make it inconclusive.
func (p *Plan) asserted(c *Case, launches int) (all [][]string) {
	for _, a := range c.Assertions {
		lines := []string{textAssertion(a)}
		for _, d := range p.undecidable(c, a, launches) {
			lines = append(lines, "  will be inconclusive: "+d.Why)
		}
		all = append(all, lines)
	}
	return all
}

// alikeAsserted are the assertions that each of several planned cases has, so that they are written once; nil: one or
// none.
func (p *Plan) alikeAsserted(cases []*Case, launches int) (alike [][]string) {
	planned := 0
	for _, c := range cases {
		if c.Status != Planned {
			continue
		}
		own := p.asserted(c, launches)
		if planned++; planned == 1 {
			alike = own
			continue
		}
		alike = less(alike, less(alike, own))
	}
	if planned < 2 || len(alike) < 2 {
		return nil
	}
	return alike
}

// less is a list of texts less others.
func less(all, others [][]string) [][]string {
	among := func(one []string) bool {
		return slices.ContainsFunc(others, func(o []string) bool { return slices.Equal(one, o) })
	}
	return slices.DeleteFunc(slices.Clone(all), among)
}

// textMultiCase writes the assertions over several of a run's cases.
func (p *Plan) textMultiCase(b *strings.Builder, run string) {
	for _, a := range p.Assertions {
		if len(a.Cases) > 0 && p.runOf(a.Cases[0]) == run {
			fmt.Fprintf(b, "  over %s: %s\n", textSpan(a.Cases, "case"), textAssertion(a))
			var reasons []string
			for _, d := range p.undecidable(nil, a, p.mostLaunches(run)) {
				if !slices.Contains(reasons, d.Why) {
					reasons = append(reasons, d.Why)
					fmt.Fprintf(b, "    will be inconclusive: %s\n", d.Why)
				}
			}
		}
	}
}

func textSpan(keys []string, what string) string {
	if len(keys) == 1 {
		return keys[0]
	}
	return fmt.Sprintf("%s, %s … %s", plural(len(keys), what), keys[0], keys[len(keys)-1])
}

// OpenGates returns the verdict of gates that stay open; flags of the command line override the
// scenario.
func (p *Plan) OpenGates(flags assertion.Inconclusive) assertion.Inconclusive {
	if p.Inconclusive == nil {
		return flags
	}
	return flags.Or(*p.Inconclusive)
}

// policyText describes the verdict of gates that stay open; "": they stay inconclusive.
func policyText(i *assertion.Inconclusive) string {
	if i == nil {
		return ""
	}
	var parts []string
	if i.As != "" {
		parts = append(parts, "counts as "+i.As)
	}
	if i.Streak > 0 {
		parts = append(parts, fmt.Sprintf("%d sessions in a row fail", i.Streak))
	}
	return strings.Join(parts, "; ")
}

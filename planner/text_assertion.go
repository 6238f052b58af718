package planner

import (
	"fmt"
	"strings"

	"weir/assertion"
	"weir/quantity"
)

// textAssertion says what is asserted, with the numbers and terms that decide.
func textAssertion(a assertion.Assertion) string {
	s := string(a.Severity) + " " + a.Lowered
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
		s += ", expected to fail until " + a.XFail.Until + ": " + a.XFail.Reason
	}
	return s
}

// textSpanning writes the assertions over several of a run's cases.
func (p *Plan) textSpanning(b *strings.Builder, cases []*Case) {
	in := map[string]bool{}
	for _, c := range cases {
		in[c.Key] = true
	}
	for _, a := range p.Assertions {
		if len(a.Cases) > 0 && in[a.Cases[0]] {
			fmt.Fprintf(b, "  over %s: %s\n", textSpan(a.Cases, "case"), textAssertion(a))
			for _, d := range p.undecidable(nil, a, p.mostLaunches(cases)) {
				fmt.Fprintf(b, "    will be inconclusive: %s\n", d.Why)
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

// OpenGates is what becomes of gates that stay open, where flags of the command line win over the scenario.
func (p *Plan) OpenGates(flags assertion.Inconclusive) assertion.Inconclusive {
	if p.Inconclusive == nil {
		return flags
	}
	return flags.Or(*p.Inconclusive)
}

// policyText says what becomes of gates that stay open; "": they stay inconclusive.
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

// Plans as text: claims.

package planner

import (
	"strings"

	"github.com/weir-bench/weir/results/assertion"
)

// textClaims writes what documents say of cases.
func (p *Plan) textClaims(b *strings.Builder) {
	if len(p.Claims) == 0 {
		return
	}
	b.WriteString("\nclaims; none decides the verdict\n")
	t := columns(b)
	textRow(t, "  case", "metric", "expected", "source", "")
	for _, c := range p.Claims {
		textRow(t, "  "+c.Case, c.Metric, c.ExpectedText(), c.Source, claimNote(&c))
	}
	t.Flush()
}

func claimNote(c *assertion.Claim) string {
	switch {
	case c.Implausible != "":
		return "implausible: " + c.Doubt()
	case c.Differs != "":
		return "not comparable: " + c.Differs
	case c.Says != "":
		return c.Says
	}
	return ""
}

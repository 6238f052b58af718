package dsl

import (
	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
)

// maxStreak is the largest number of consecutive inconclusive sessions that a scenario may name.
const maxStreak = 1000

// readInconclusive reads what gates count as that stay inconclusive, a verdict or a mapping.
func (l *loader) readInconclusive(m *module, content *hcl.BodyContent) {
	if m.ownInconclusive = has(content, "inconclusive"); !m.ownInconclusive {
		return
	}
	expr := argument(content, "inconclusive")
	switch {
	case expr == nil || isMapping(expr):
		p, ok := l.sectionPart(content, "inconclusive", schemaOf(grammar.Inconclusive))
		if !ok {
			return
		}
		if as := argument(p.BodyContent, "as"); as != nil {
			m.Inconclusive.As, _ = l.oneOf(as, grammar.Inconclusive, "as")
		}
		if streak := argument(p.BodyContent, "streak"); streak != nil {
			m.Inconclusive.Streak = l.count(streak, "streak", 2, maxStreak)
		}
	default:
		m.Inconclusive.As, _ = l.oneOf(expr, grammar.Scenario, "inconclusive")
	}
}

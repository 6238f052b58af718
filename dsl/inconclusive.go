// The verdict of gates that stay inconclusive.

package dsl

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
)

// readInconclusive reads the verdict of gates that stay inconclusive: a word or a mapping.
func (l *loader) readInconclusive(m *module, content *hcl.BodyContent) {
	if m.ownInconclusive = hasKey(content, "inconclusive"); !m.ownInconclusive {
		return
	}
	expr := argument(content, "inconclusive")
	switch {
	case expr == nil || isMapping(expr):
		l.sectionOf(content, "inconclusive", grammar.Inconclusive, &m.Inconclusive)
	default:
		m.Inconclusive.As, _ = l.oneOf(expr, grammar.Scenario, "inconclusive")
	}
}

package dsl

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
)

// SkipMissing is what a scenario says whose assertions are skipped where the baseline lacks
// what they mention.
const SkipMissing = "skip"

// readBaseline reads the baseline, a file or a mapping.
func (l *loader) readBaseline(m *module, content *hcl.BodyContent) {
	expr := argument(content, "baseline")
	if expr == nil || isMapping(expr) || has(content, "baseline") && content.Attributes["baseline"] == nil {
		p, ok := l.sectionPart(content, "baseline", schemaOf(grammar.Baseline))
		if !ok || !l.complete(p, grammar.Baseline, "baseline") {
			return
		}
		expr = argument(p.BodyContent, "file")
		if missing := argument(p.BodyContent, "missing"); missing != nil {
			if word, _ := l.oneOf(missing, grammar.Baseline, "missing"); word == SkipMissing {
				m.BaselineMissing = SkipMissing
			}
		}
	}
	path, ok := l.text(expr, "baseline")
	switch {
	case !ok:
	case strings.TrimSpace(path) == "":
		l.error(expr.Range(), "Invalid value", "baseline names no file.",
			"Name a result document, or leave the key out.")
	default:
		m.Baseline, m.ownBaseline = l.relative(path), true
	}
}

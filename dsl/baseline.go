package dsl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/grammar"
)

// SkipMissing is what a scenario says whose assertions are skipped where the baseline lacks
// what they mention.
const SkipMissing = "skip"

// AbsentBaseline is the warning that a scenario names a baseline which is not there. Whoever
// runs the scenario may give another; so it is no error of the file.
func AbsentBaseline(s *Scenario) *hcl.Diagnostic {
	if s.Baseline == "" || s.BaselineMissing == SkipMissing {
		return nil
	}
	if _, err := os.Stat(s.Baseline); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	d := diagnostic(s.BaselineAt, "No such baseline",
		fmt.Sprintf("There is no %s: `weir run` refuses the scenario unless --baseline names a document.", s.Baseline),
		"With baseline: {file: …, missing: skip} the first session runs without one, and can be the baseline.")
	d.Severity = hcl.DiagWarning
	return d
}

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
		m.Baseline, m.ownBaseline, m.BaselineAt = l.relative(path), true, expr.Range()
	}
}

// The baseline of a scenario.

package dsl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl/grammar"
)

// SkipMissing is the value of BaselineMissing with which assertions are skipped if the baseline
// lacks their metrics.
const SkipMissing = "skip"

// AbsentBaseline returns the warning that the scenario's baseline does not exist. It is no error of
// the file, since the command line may name another.
func AbsentBaseline(s *Scenario) *hcl.Diagnostic {
	if s.Baseline == "" || s.BaselineMissing == SkipMissing {
		return nil
	}
	if _, err := os.Stat(s.Baseline); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return warning(s.BaselineAt, "No such baseline",
		fmt.Sprintf("%s does not exist: `weir run` refuses the scenario unless --baseline names a document.", s.Baseline),
		"With baseline: {file: …, missing: skip} the first session runs without one, and can be the baseline.")
}

// readBaseline reads the baseline: a file name or a mapping.
func (l *loader) readBaseline(m *module, content *hcl.BodyContent) {
	expr := argument(content, "baseline")
	if expr == nil || isMapping(expr) || hasKey(content, "baseline") && content.Attributes["baseline"] == nil {
		var b struct {
			Missing string `key:"missing"`
		}
		p, ok := l.sectionOf(content, "baseline", grammar.Baseline, &b)
		if !ok {
			return
		}
		expr = argument(p.BodyContent, "file")
		if b.Missing == SkipMissing {
			m.BaselineMissing = SkipMissing
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

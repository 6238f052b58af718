package reporters

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/weir-bench/weir/results"
)

// LLMD writes the loads of a session as standard reports of llm-d-benchmark, one document for each load. Numbers
// are medians over the launches of a case; what the format has no member for is in native.config.
func LLMD(w io.Writer, doc *results.Document) error {
	run := map[string]any{
		"eid": doc.Session.ID,
		"time": map[string]any{
			"start": doc.Session.Started.Format(time.RFC3339), "end": doc.Session.Finished.Format(time.RFC3339),
		},
	}
	notes := map[string]any{} // the only member that may have others
	if all := banners(doc); len(all) > 0 {
		notes["weir_notes"] = all
	}
	written := false
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	for i, c := range attempted(doc).Cases {
		if c.Metrics.IsZero() {
			continue
		}
		one, err := jsonBlock(c, "llm-d")
		if err != nil {
			return err
		}
		if one == nil {
			continue
		}
		run["uid"] = fmt.Sprintf("%s-%d", doc.Session.ID, i)
		one["run"] = run
		load, _ := member(one, "scenario", "load", "standardized").(map[string]any)
		native, _ := member(one, "scenario", "load", "native", "config").(map[string]any)
		if load != nil && native != nil {
			load["tool_version"] = doc.Weir.Version
			native["weir_case"], native["weir_verdict"] = c.Key, caseLabel(c)
			native["weir_launches"] = len(c.Succeeded())
		}
		if own, ok := one["results"].(map[string]any); ok && len(notes) > 0 {
			own["observability"] = notes
		}
		if err := e.Encode(one); err != nil {
			return err
		}
		written = true
	}
	if written {
		return nil
	}
	return e.Encode(map[string]any{"version": "0.2", "run": run, "results": map[string]any{"observability": notes}})
}

// member returns the value below names of members, nil if there is none.
func member(of any, names ...string) any {
	for _, name := range names {
		m, _ := of.(map[string]any)
		of = m[name]
	}
	return of
}

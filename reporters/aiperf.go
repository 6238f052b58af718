package reporters

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"weir/results"
	"weir/workload"
)

// AIPerf writes the loads of a session with the names of aiperf's profile_export_aiperf.json: that of
// the only case, or in weir_loads those of several. Numbers are medians over the launches of a case;
// members that begin with weir_ say which case it is and what the gate said.
func AIPerf(w io.Writer, doc *results.Document) error {
	all := []map[string]any{}
	for _, c := range attempted(doc).Cases {
		k, known := workload.Lookup(c.Workload)
		if !known || k.Blocks["aiperf"] == nil {
			continue
		}
		metric := func(name string) (float64, bool) {
			m, ok := c.Metrics.Get(name)
			return m.Median, ok
		}
		lines := k.Blocks["aiperf"](func(option string) string { return setting(c, option) }, metric)
		one := map[string]any{}
		if err := json.Unmarshal([]byte(strings.Join(lines, "\n")), &one); err != nil {
			return err
		}
		completed(one, c)
		one["weir_case"], one["weir_verdict"], one["weir_session"] = c.Key, caseLabel(c), doc.Session.ID
		one["weir_launches"] = len(c.Succeeded())
		all = append(all, one)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	out := map[string]any{"weir_loads": all}
	if len(all) == 1 {
		out = all[0]
	}
	if notes := banners(doc); len(notes) > 0 {
		out["weir_notes"] = notes
	}
	return e.Encode(out)
}

// completed says what became of a load that was not measured as it was to be, with the names of aiperf.
func completed(one map[string]any, c *results.Case) {
	whole := c.Status == results.OK && !c.Metrics.IsZero()
	one["is_complete"], one["was_cancelled"] = whole, c.Unreached()
	count := map[string]int{}
	for _, l := range c.Launches {
		if l.Failure != nil && !l.Retried {
			count[l.Failure.Cause]++
		}
		for _, e := range l.Errors {
			count[e.Text] += int(e.Count)
		}
	}
	summary := []any{}
	for _, text := range slices.Sorted(maps.Keys(count)) {
		summary = append(summary, map[string]any{
			"error_details": map[string]any{"message": plain(text)}, "count": count[text],
		})
	}
	one["error_summary"] = summary
}

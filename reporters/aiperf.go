package reporters

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// blockOf is the case in another tool's output; nil: the tool has no such case.
func blockOf(c *results.Case, tool string) workload.ForeignBlock {
	if b, ok := workload.As[workload.BlockPrinter](c.Workload); ok {
		return b.Blocks()[tool]
	}
	return nil
}

// AIPerf writes the loads of a session with the names of aiperf's profile_export_aiperf.json: the only
// case, or several in weir_loads. Numbers are medians over the launches of a case, and the
// extremes of all; members with the prefix
// weir_ identify the case and its verdict.
func AIPerf(w io.Writer, doc *results.Document) error {
	all := []map[string]any{}
	for _, c := range attempted(doc).Cases {
		one, err := jsonBlock(c, "aiperf")
		if err != nil {
			return err
		}
		if one == nil {
			continue
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

// completed sets what became of a load that did not run to its end, with the names of aiperf.
func completed(one map[string]any, c *results.Case) {
	whole := c.Status == results.OK && !c.Metrics.IsZero()
	one["is_complete"], one["was_cancelled"] = whole, c.NotReached()
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

// jsonBlock is a case in a JSON format of its workload, with medians over the launches, and the extremes of all of
// them; nil: the workload does not have the format.
func jsonBlock(c *results.Case, format string) (one map[string]any, err error) {
	block := blockOf(c, format)
	if block == nil {
		return nil, nil
	}
	lines := block(func(option string) string { return setting(c, option) }, func(name string) (float64, bool) {
		if v, ok := extremeIn(c, name); ok {
			return v, true
		}
		m, ok := c.Metrics.Get(name)
		return m.Median, ok
	})
	err = json.Unmarshal([]byte(strings.Join(lines, "\n")), &one)
	return one, err
}

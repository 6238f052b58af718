package reporters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// banners are prominent warnings about the numbers as a whole.
func banners(doc *results.Document) []string {
	return slices.DeleteFunc(
		[]string{simulatedBanner(doc), scaledBanner(doc), quantilesBanner(doc), unsealedBanner(doc)},
		func(text string) bool { return text == "" },
	)
}

// unsealedBanner warns that changes of the document cannot be detected; "" if they can.
func unsealedBanner(doc *results.Document) string {
	if !doc.Unsealed() {
		return ""
	}
	return "UNSEALED: modifications of the document cannot be detected"
}

// scaledBanner says which sleeps or trace times were scaled; "" if none.
func scaledBanner(doc *results.Document) string {
	all := slices.DeleteFunc([]string{scaled(doc, "SLEEPS"), scaled(doc, "TIME")},
		func(text string) bool { return text == "" })
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "; ") + ": the load differs from the one that the scenario describes"
}

// whatIsScaled is what the option time_scale of a workload scales.
func whatIsScaled(of string) string {
	if k, ok := workload.Lookup(of); ok {
		if _, traces := k.Option("trace"); traces {
			return "TIME"
		}
	}
	return "SLEEPS"
}

// scaled lists the runs with a time scale, and the factors; "": none.
func scaled(doc *results.Document, what string) string {
	var runs ordered.Groups[string, string] // by scale
	for _, c := range doc.Cases {
		scale := timeScale(c)
		if scale == "" || len(c.Launches) == 0 || whatIsScaled(c.Workload) != what {
			continue
		}
		ordered.AddOnce(&runs, scale, plain(c.Run))
	}
	var parts []string
	for scale, of := range runs.All() {
		parts = append(parts, fmt.Sprintf("by %s in %s", scale, strings.Join(of, ", ")))
	}
	if parts == nil {
		return ""
	}
	return what + " SCALED " + strings.Join(parts, "; ")
}

// timeScale is the factor of a case's sleeps, "" for 1 or none.
func timeScale(c *results.Case) string {
	if v, ok := option.Number(c.ResolvedOptions()["time_scale"]); ok && v != 1 {
		return raw(v)
	}
	return ""
}

// resumedLaunches says how many launches come from an earlier session; "" if none.
func resumedLaunches(doc *results.Document) string {
	n := doc.Resumed()
	if n == 0 {
		return ""
	}
	return sentence(" ", measurements(doc, n)+" taken over from session", plain(doc.Session.Resumed))
}

// chosenFabrics says which fabrics weir chose, for how many cases and why.
func chosenFabrics(doc *results.Document) []string {
	var order []string
	count := map[string]int{}
	for _, c := range doc.Cases {
		seen := map[string]bool{}
		for _, l := range c.Launches {
			if l.FabricReason == "" {
				continue
			}
			k := plain(l.Fabric) + "\x00" + plain(l.FabricReason)
			if count[k] == 0 {
				order = append(order, k)
			}
			if !seen[k] {
				seen[k] = true
				count[k]++
			}
		}
	}
	for i, k := range order {
		fabric, why, _ := strings.Cut(k, "\x00")
		order[i] = fmt.Sprintf("fabric auto was %s in %s: %s", fabric, plural(count[k], "case"), why)
	}
	return order
}

// fullLoads says in how many cases rates cover the full load, because it had too few waves for a steady
// part.
func fullLoads(doc *results.Document) []string {
	n, example := 0, ""
	for _, c := range doc.Cases {
		whole := func(l *results.Launch) bool { return l.RateWindow == "whole" && l.Usable() }
		if c.Options["window"] != "whole" && slices.ContainsFunc(c.Launches, whole) {
			if n++; n == 1 {
				example = plain(c.Key)
			}
		}
	}
	if n == 0 {
		return nil
	}
	if n > 1 {
		example += fmt.Sprintf(" and %s", plural(n-1, "other case"))
	}
	return []string{
		"rates cover the full load, with its start and end, because it has too few waves for a steady part: " +
			example,
	}
}

// sharedMetrics says which metrics cases of a launch share.
func sharedMetrics(doc *results.Document) (out []string) {
	cases := map[string]int{}
	for _, c := range doc.Cases {
		var of []string
		for _, l := range c.Launches {
			of = append(of, l.Shared...)
		}
		slices.Sort(of)
		for _, name := range slices.Compact(of) {
			cases[name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		out = append(
			out,
			fmt.Sprintf("%s is measured once for a launch and is the same in all of its cases (%s)", plain(name),
				plural(cases[name], "case")),
		)
	}
	return out
}

// ignored lists variables of the scenario without effect, and the number of cases.
func ignored(doc *results.Document) []string {
	var order []results.Ignored
	count := map[results.Ignored]int{}
	for _, c := range doc.Cases {
		var all []results.Ignored
		for _, l := range c.Launches {
			all = append(all, l.Ignored...)
		}
		for _, v := range results.MergeIgnored(all) {
			if count[v] == 0 {
				order = append(order, v)
			}
			count[v]++
		}
	}
	var out []string
	for _, v := range order {
		out = append(out, plain(fmt.Sprintf("%s (%s)", v, plural(count[v], "case"))))
	}
	return out
}

// countersMoved lists the node counters that moved, each with its maximum in one launch, because cases of
// a launch share them.
func countersMoved(doc *results.Document) []string {
	most := map[results.Counter]uint64{} // by counter without By
	cases := map[results.Counter]int{}
	for _, c := range doc.Cases {
		of := map[results.Counter]bool{}
		for _, l := range c.Launches {
			for _, moved := range l.Counters {
				k := moved
				k.By = 0
				of[k] = true
				most[k] = max(most[k], moved.By)
			}
		}
		for k := range of {
			cases[k]++
		}
	}
	all := slices.Collect(maps.Keys(most))
	results.SortCounters(all)
	var out []string
	for _, k := range all {
		by := k
		by.By = most[k]
		out = append(out, plain(fmt.Sprintf("%s in a launch (%s, %s)", by, k.Class, plural(cases[k], "case"))))
	}
	return out
}

// retriedLaunches lists cases with retried launches: how many launches succeeded, and why others did not.
func retriedLaunches(doc *results.Document) []string {
	var out []string
	for _, c := range doc.Cases {
		n := c.Retried()
		if n == 0 {
			continue
		}
		what := fmt.Sprintf("%d launches retried", n)
		if n == 1 {
			what = "1 launch retried"
		}
		var causes []string
		for _, l := range c.Launches {
			if l.Retried && l.Failure != nil && !slices.Contains(causes, sentenceOf(l.Failure.String())) {
				causes = append(causes, sentenceOf(l.Failure.String()))
			}
		}
		out = append(out, plain(fmt.Sprintf("%s: %s; %d of %d launches succeeded",
			c.Key, sentence(": ", what, sentence(" and ", causes...)), len(c.Succeeded()), len(c.Launches))))
	}
	return out
}

// Titles about the processors of launches.
const (
	disturbedTitle = "Disturbed launches"
	crowdedTitle   = "More threads than processors"
)

// discardedLaunches lists cases with discarded launches: how many, and why the last was.
func discardedLaunches(doc *results.Document) []string {
	var out []string
	for _, c := range doc.Cases {
		if discardedReason(c) != "" {
			continue // a finding says so
		}
		n, what := c.Discarded(), "discarded"
		if n > 0 && n == len(c.Launches) {
			what = "discarded (--disturbed keep counts them)"
		}
		if n > 0 {
			out = append(out, plain(fmt.Sprintf("%s: %d of %d launches %s; last: %s", c.Key, n, len(c.Launches),
				what, c.LastDiscardReason())))
		}
	}
	return out
}

// oversubscribedNodes lists nodes with more threads than processors.
func oversubscribedNodes(doc *results.Document) []string {
	var out []string
	cases := casesOf(doc, func(_ *results.Case, l *results.Launch) []string { return []string{l.Oversubscribed()} })
	for text, all := range cases.All() {
		out = append(out, plain(fmt.Sprintf("%s (%s): they share processors, so disturbances by others cannot be detected",
			text, plural(len(all), "case"))))
	}
	return out
}

// runsOf lists the distinct runs of some cases, in document order.
func runsOf(doc *results.Document, keys []string) []string {
	among := make(map[string]bool, len(keys))
	for _, k := range keys {
		among[k] = true
	}
	var out []string
	for _, c := range doc.Cases {
		if !among[c.Key] {
			continue
		}
		if c.Run != "" && !slices.Contains(out, c.Run) {
			out = append(out, c.Run)
		}
		if delete(among, c.Key); len(among) == 0 {
			break
		}
	}
	return out
}

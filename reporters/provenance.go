package reporters

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weir/results"
	"weir/workload"
)

// simulatedBanner says which numbers were not measured; "" if all were.
func simulatedBanner(doc *results.Document) string {
	if !doc.Simulated() {
		return ""
	}
	n, launched := 0, 0
	for _, c := range doc.Cases {
		if len(c.Launches) > 0 {
			launched++
		}
		if c.Simulated() {
			n++
		}
	}
	if n == launched {
		return "SIMULATED: no data was moved; these numbers follow from a declared model"
	}
	return fmt.Sprintf("SIMULATED IN PART: the numbers of %d of %s follow from a declared model", n,
		plural(launched, "case"))
}

// banners say what nobody may miss of the numbers as a whole.
func banners(doc *results.Document) []string {
	return slices.DeleteFunc(
		[]string{simulatedBanner(doc), scaledBanner(doc), quantilesBanner(doc), unsealedBanner(doc)},
		func(text string) bool { return text == "" },
	)
}

// unsealedBanner says that nobody can tell whether the document was changed; "" if somebody can.
func unsealedBanner(doc *results.Document) string {
	if !doc.Unsealed() {
		return ""
	}
	return "UNSEALED: nothing shows that the document is as it was written"
}

// scaledBanner says whose sleeps, or times of a trace, were not as long as the scenario has them; ""
// if nobody's.
func scaledBanner(doc *results.Document) string {
	all := slices.DeleteFunc([]string{scaled(doc, "SLEEPS"), scaled(doc, "TIME")},
		func(text string) bool { return text == "" })
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, "; ") + ": these numbers are of another load than the scenario describes"
}

// whatIsScaled is what option time_scale of a workload makes longer.
func whatIsScaled(of string) string {
	if k, ok := workload.Lookup(of); ok {
		if _, traces := k.Option("trace"); traces {
			return "TIME"
		}
	}
	return "SLEEPS"
}

// scaled says in which runs something is scaled, and by how much; "": in none.
func scaled(doc *results.Document, what string) string {
	var order []string
	runs := map[string][]string{} // by scale
	for _, c := range doc.Cases {
		scale := timeScale(c)
		if scale == "" || len(c.Launches) == 0 || whatIsScaled(c.Workload) != what {
			continue
		}
		if runs[scale] == nil {
			order = append(order, scale)
		}
		if run := plain(c.Run); !slices.Contains(runs[scale], run) {
			runs[scale] = append(runs[scale], run)
		}
	}
	if order == nil {
		return ""
	}
	for i, scale := range order {
		order[i] = fmt.Sprintf("by %s in %s", scale, strings.Join(runs[scale], ", "))
	}
	return what + " SCALED " + strings.Join(order, "; ")
}

// timeScale is the factor of a case's sleeps, "" if it is 1 or there is none.
func timeScale(c *results.Case) string {
	if v, ok := workload.Number(c.Settled()["time_scale"]); ok && v != 1 {
		return raw(v)
	}
	return ""
}

// simulatedMark stands beside the verdict of a case that was simulated.
func simulatedMark(c *results.Case) string {
	if c.Simulated() {
		return "(simulated)"
	}
	return ""
}

// takenOver says how many launches an earlier session made; "" if none.
func takenOver(doc *results.Document) string {
	n := doc.Resumed()
	if n == 0 {
		return ""
	}
	text := "1 launch"
	if n > 1 {
		text = fmt.Sprintf("%d launches", n)
	}
	return sentence(" ", text+" taken over from session", plain(doc.Session.Resumed))
}

// chosen says which fabrics weir chose, where the scenario left it the choice, for
// how many cases and why.
func chosen(doc *results.Document) []string {
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

// wholeLoads says in how many cases rates are of the whole load, because it had too few waves for a steady part.
func wholeLoads(doc *results.Document) []string {
	n, example := 0, ""
	for _, c := range doc.Cases {
		whole := func(l *results.Launch) bool { return l.RateWindow == "whole" && l.Counts() }
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
		"rates are of the whole load, with its start and end, because it has too few waves for a steady part: " +
			example,
	}
}

// sharedMetrics says which metrics cases of a launch have in common.
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

// ignored says which variables of the scenario did nothing, and in how many cases.
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

// countersMoved says which counters of the nodes moved, each by its most in one launch:
// cases that a launch has in common all tell of it.
func countersMoved(doc *results.Document) []string {
	most := map[results.Counter]uint64{} // by counter, without its By
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

// madeAgain are the cases with launches that failed and were made again: how many
// of all launches succeeded, and why the others did not.
func madeAgain(doc *results.Document) []string {
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

// Titles of what reports say of the processors of launches.
const (
	voidTitle    = "Disturbed launches"
	crowdedTitle = "More threads than processors"
)

// voidLaunches are the cases with launches that did not have their processors: how many these are of
// all, and why the last of them.
func voidLaunches(doc *results.Document) []string {
	var out []string
	for _, c := range doc.Cases {
		if untold(c) != "" {
			continue // a finding tells it
		}
		n, what := c.Voids(), "void, not counted"
		if n > 0 && n == len(c.Launches) {
			what = "void, not counted (--disturbed keep counts them)"
		}
		if n > 0 {
			out = append(out, plain(fmt.Sprintf("%s: %d of %d launches %s; the last: %s", c.Key, n, len(c.Launches),
				what, c.WhyVoid())))
		}
	}
	return out
}

// crowdedNodes are the nodes on which launches had more threads than processors, each once.
func crowdedNodes(doc *results.Document) []string {
	var out []string
	cases := map[string]int{}
	for _, c := range doc.Cases {
		of := map[string]bool{}
		for _, l := range c.Launches {
			if text := l.Crowded(); text != "" && !of[text] {
				of[text] = true
				if cases[text]++; cases[text] == 1 {
					out = append(out, text)
				}
			}
		}
	}
	for i, text := range out {
		out[i] = plain(fmt.Sprintf("%s (%s): they take turns, and nothing says whether others disturbed them", text,
			plural(cases[text], "case")))
	}
	return out
}

// runsOf are the runs of some cases, each once, in the order of the document.
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

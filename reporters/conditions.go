package reporters

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// condition is a part of how a case was measured, as needed to reproduce it.
type condition struct {
	name string
	of   func(*results.Case) string // "": unknown
}

// conditions are the conditions of a case in the order of reports.
var conditions = []condition{
	{"fabric", func(c *results.Case) string { return plain(strings.Join(fabricsOf(one(c)), " or ")) }},
	{"transport", func(c *results.Case) string { return plain(strings.Join(transportsOf(one(c)), "; or ")) }},
	{"provider", func(c *results.Case) string { return plain(strings.Join(providersOf(one(c)), "; or ")) }},
	{"libraries", librariesOf},
	{"options", func(c *results.Case) string { return strings.Join(optionWords(c, false, nil), " ") }},
	{"files", filesOf},
	{"env", variablesOf},
	{"ranks", ranksText},
	{"placement", func(c *results.Case) string { return strings.Join(ofLaunchesOnce(one(c), placed), "; or ") }},
	{"values", valuesOf},
}

func one(c *results.Case) []*results.Case { return []*results.Case{c} }

// filesOf lists the files of option values.
func filesOf(c *results.Case) string {
	var parts []string
	for _, option := range slices.Sorted(maps.Keys(c.Files)) {
		parts = append(parts, plain(option+"="+c.Files[option]))
	}
	return strings.Join(parts, " ")
}

// valuesOf lists the values of other runs that its launches used.
func valuesOf(c *results.Case) string {
	all := map[string][]string{}
	for _, l := range c.Launches {
		for name, value := range l.Values {
			all[name] = ordered.Append(all[name], value)
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, plain(name)+" = "+plain(strings.Join(all[name], " or ")))
	}
	return strings.Join(parts, ", ")
}

// longestOption is how much of an option is shown: a matrix may have megabytes.
const longestOption = 120

func shortened(text string) string {
	if len(text) > longestOption {
		return strings.ToValidUTF8(text[:longestOption], "") + "…"
	}
	return text
}

func optionWord(text string) string {
	text = shortened(text)
	if text == "" || strings.ContainsAny(text, " \t\n\"") {
		return strconv.Quote(text)
	}
	return text
}

// variablesOf lists the variables of the ranks: the scenario's, unset ones, and those of the shell and the
// nodes that affect a library.
func variablesOf(c *results.Case) string {
	all := map[string]string{}
	for _, l := range c.Launches {
		for _, v := range l.Variables {
			if v.From == results.FromScenario {
				continue
			}
			text := optionWord(v.Value) + " (" + v.From + ")"
			if had := all[v.Name]; had != "" && !strings.Contains(had, text) {
				text = had + " or " + text
			} else if had != "" {
				text = had
			}
			all[v.Name] = text
		}
	}
	for name, value := range c.ResolvedEnv() {
		all[name] = optionWord(value)
	}
	for _, name := range c.Unset {
		all[name] = "null"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, plain(name+"="+all[name]))
	}
	return strings.Join(parts, " ")
}

// ranksText is the number of ranks of a case.
func ranksText(c *results.Case) string {
	for _, l := range c.Launches {
		if len(l.Nodes) > 0 {
			return strconv.Itoa(len(l.Nodes))
		}
	}
	if v, ok := c.Options["ranks"]; ok {
		return plain(option.Text(v))
	}
	return ""
}

// mostBindings is how many bindings a placement names.
const mostBindings = 8

// placed is the placement of the ranks of a launch: the number on each node, and exclusive resources.
func placed(l *results.Launch) string {
	var order []string
	count := map[string]int{}
	for _, node := range l.Nodes {
		if count[node] == 0 {
			order = append(order, node)
		}
		count[node]++
	}
	var parts []string
	for _, node := range order {
		parts = append(parts, fmt.Sprintf("%d on %s", count[node], plain(node)))
	}
	text := strings.Join(parts, ", ")
	for i, binding := range l.Bindings {
		if i == mostBindings {
			text += fmt.Sprintf("; and %s", plural(len(l.Bindings)-i, "more rank"))
			break
		}
		text += "; " + plain(binding.String())
	}
	return text
}

// blockBytes is the size of a case's blocks in bytes; "" if it has none.
func blockBytes(c *results.Case) string {
	v, ok := c.ResolvedOptions()["block_size"]
	if !ok {
		return ""
	}
	q, err := quantity.Parse(option.Text(v))
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(q.Value, 'f', -1, 64)
}

// skippedLines says why assertions of cases that ran were skipped.
func skippedLines(doc *results.Document) (lines []string) {
	var skipped ordered.Groups[string, *results.AssertionVerdict]
	see := func(all []*results.AssertionVerdict) {
		for _, a := range all {
			if a.Standing() == string(results.SkippedVerdict) && a.Message != "" {
				skipped.Add(plain(a.Text+": "+a.Message), a)
			}
		}
	}
	for _, c := range doc.Cases {
		if c.Status == results.OK {
			see(c.Assertions)
		}
	}
	see(doc.Assertions)
	for text, all := range skipped.All() {
		if n := len(all); n > 1 {
			text += fmt.Sprintf(" (%s)", plural(n, "case"))
		}
		lines = append(lines, text)
	}
	return lines
}

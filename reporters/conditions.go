package reporters

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// conditions describe how a case was measured, as needed to reproduce it; "" is unknown.
type conditions struct {
	fabric, transport, provider, libraries, options, files, env, values, ranks, placement string
}

// conditionNames are the parts of conditions in the order of reports.
var conditionNames = []string{
	"fabric", "transport", "provider", "libraries", "options", "files", "env", "ranks", "placement", "values",
}

func (c conditions) part(name string) string {
	switch name {
	case "fabric":
		return c.fabric
	case "transport":
		return c.transport
	case "provider":
		return c.provider
	case "libraries":
		return c.libraries
	case "options":
		return c.options
	case "files":
		return c.files
	case "env":
		return c.env
	case "values":
		return c.values
	case "ranks":
		return c.ranks
	}
	return c.placement
}

// conditionsOf returns the conditions of a case.
func conditionsOf(c *results.Case) conditions {
	return conditions{
		fabric: fabricOf(c), transport: transportOf(c), provider: providerOf(c), libraries: librariesOf(c),
		options: optionsText(c), env: variablesOf(c),
		values: valuesOf(c), files: filesOf(c),
		ranks: ranksText(c), placement: placementText(c),
	}
}

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
			if !slices.Contains(all[name], value) {
				all[name] = append(all[name], value)
			}
		}
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, plain(name)+" = "+plain(strings.Join(all[name], " or ")))
	}
	return strings.Join(parts, ", ")
}

// fabricOf is the fabric that moved the data, or the requested one if nothing ran.
func fabricOf(c *results.Case) string {
	var all []string
	for _, l := range c.Launches {
		if l.Fabric != "" && !slices.Contains(all, plain(l.Fabric)) {
			all = append(all, plain(l.Fabric))
		}
	}
	if len(all) == 0 {
		if v, ok := c.Options["fabric"]; ok {
			return plain(valueText(v))
		}
	}
	return strings.Join(all, " or ")
}

// transportOf is the transports read back.
func transportOf(c *results.Case) string {
	var all []string
	for _, l := range c.Launches {
		text := plain(results.CarriedBy(l.Transports))
		if text == "" {
			text = plain(l.Transport)
		}
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; or ")
}

// providerOf is the provider facts read back, without its many settings.
func providerOf(c *results.Case) string {
	var all []string
	for _, l := range c.Launches {
		text := plain(results.ProviderText(results.ProviderFacts(l.Provider)))
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; or ")
}

// optionsText lists options that differ from the workload's defaults, by name.
func optionsText(c *results.Case) string {
	return strings.Join(optionWords(c, false, nil), " ")
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
		return plain(valueText(v))
	}
	return ""
}

// placementText is the placement of the ranks: the number on each node, and exclusive resources.
func placementText(c *results.Case) string {
	var all []string
	for _, l := range c.Launches {
		text := placed(l)
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "; or ")
}

// mostBindings is how many bindings a placement names.
const mostBindings = 8

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
	q, err := quantity.Parse(valueText(v))
	if err != nil {
		return ""
	}
	return strconv.FormatFloat(q.Value, 'f', -1, 64)
}

// skippedLines says why assertions of cases that ran were skipped.
func skippedLines(doc *results.Document) (lines []string) {
	var order []string
	count := map[string]int{}
	see := func(a *results.AssertionVerdict) {
		if a.Standing() != string(results.SkippedVerdict) || a.Message == "" {
			return
		}
		text := plain(a.Text + ": " + a.Message)
		if count[text]++; count[text] == 1 {
			order = append(order, text)
		}
	}
	for _, c := range doc.Cases {
		if c.Status == results.OK {
			for _, a := range c.Assertions {
				see(a)
			}
		}
	}
	for _, a := range doc.Assertions {
		see(a)
	}
	for _, text := range order {
		if n := count[text]; n > 1 {
			text += fmt.Sprintf(" (%s)", plural(n, "case"))
		}
		lines = append(lines, text)
	}
	return lines
}

package causes

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// ofProvider are prefixes of variables of libfabric that only some providers read, with words of their names.
var ofProvider = []struct {
	prefix string
	words  []string
}{
	{"FI_EFA_", []string{"efa"}}, {"FI_VERBS_", []string{"verbs"}}, {"FI_TCP_", []string{"tcp"}},
	{"FI_OFI_RXM_", []string{"rxm"}}, {"FI_CXI_", []string{"cxi"}}, {"FI_OPX_", []string{"opx"}},
	{"FI_PSM3_", []string{"psm3"}}, {"FI_HMEM_", []string{"efa", "verbs", "cxi", "opx", "psm3", "shm"}},
}

// unread reports whether a variable is of a provider that a launch did not choose, so that it is no cause.
func unread(c *results.Case, l *results.Launch, variable string) bool {
	for _, p := range ofProvider {
		if !strings.HasPrefix(variable, p.prefix) {
			continue
		}
		chosen := strings.ToLower(chosenProvider(c, l))
		named := func(word string) bool { return strings.Contains(chosen, word) }
		return chosen != "" && !slices.ContainsFunc(p.words, named)
	}
	return false
}

// chosenProvider is the provider of a launch by the variable or the option that chose it, or else by what carried the
// data of fabric libfabric; "": unknown. A list of names with ^ says only what was not chosen.
func chosenProvider(c *results.Case, l *results.Launch) string {
	for _, v := range l.Variables {
		if v.Name == "FI_PROVIDER" && !strings.HasPrefix(v.Value, "^") {
			return v.Value
		}
	}
	if name, _ := c.Options["provider"].(string); name != "" && name != "auto" {
		return name
	}
	var names []string
	for _, t := range l.Transports {
		if l.Fabric == "libfabric" && t.Use == results.DataUse {
			names = append(names, t.Name)
		}
	}
	return strings.Join(names, " ")
}

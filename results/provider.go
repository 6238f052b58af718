package results

import (
	"cmp"
	"slices"
	"strings"
)

// ProviderFact is a property of a launch's provider, read back from the fabric's library: hmem_p2p is
// enabled.
type ProviderFact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	// Setting: a limit of the provider, or a variable with the value that the library lists. There are many, so
	// tables leave them out.
	Setting bool  `json:"setting,omitzero" doc:"A limit of the provider, or a variable of the library: as set, or the default that the library states."`
	Ranks   []int `json:"ranks"` // ranks that read it back, ascending
}

// MergeProviderFacts merges the facts of ranks, by name and value.
func MergeProviderFacts(list []ProviderFact) []ProviderFact {
	out := mergeRanks(list, func(f *ProviderFact) *[]int { return &f.Ranks },
		func(f ProviderFact) [2]string { return [2]string{f.Name, f.Value} })
	slices.SortFunc(out, func(a, b ProviderFact) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Value, b.Value))
	})
	return out
}

// ProviderFacts are the facts without the settings.
func ProviderFacts(list []ProviderFact) []ProviderFact {
	return slices.DeleteFunc(slices.Clone(list), func(f ProviderFact) bool { return f.Setting })
}

// ProviderSettings are the settings without the other facts.
func ProviderSettings(list []ProviderFact) []ProviderFact {
	return slices.DeleteFunc(slices.Clone(list), func(f ProviderFact) bool { return !f.Setting })
}

// ProviderText lists all facts: "hmem_p2p=enabled tx_size=256".
func ProviderText(list []ProviderFact) string {
	var out []string
	for _, f := range list {
		out = append(out, f.Name+"="+f.Value)
	}
	return strings.Join(out, " ")
}

package reporters

import (
	"maps"
	"slices"

	"github.com/weir-bench/weir/results"
)

const variantNotesTitle = "Variants"

// variantNotes lists the notes of variants.
func variantNotes(doc *results.Document) (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(doc.Scenario.VariantNotes)) {
		lines = append(lines, plain(clip("variant "+name+": "+doc.Scenario.VariantNotes[name], " …")))
	}
	return lines
}

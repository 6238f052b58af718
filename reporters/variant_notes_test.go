package reporters

import (
	"strings"
	"testing"
)

// Reports for people have the notes of variants.
func TestReportsHaveTheNotesOfVariants(t *testing.T) {
	doc := read(t, "passed")
	doc.Scenario.VariantNotes = map[string]string{"fast": "with the new driver"}
	for _, format := range []string{"markdown", "html", "table", "json"} {
		if got := written(t, format, doc); !strings.Contains(got, "with the new driver") {
			t.Errorf("%s has no note", format)
		}
	}
}

package reporters

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
)

// An issue is the same one while its value changes: GitLab shows a merge request the issues that its target branch
// lacks.
func TestIssuesOfGitLabAreKnownByTheirAssertions(t *testing.T) {
	fingerprints := func(doc *results.Document) (all []string) {
		var issues []codeIssue
		if err := json.Unmarshal([]byte(written(t, "gitlab", doc)), &issues); err != nil {
			t.Fatal(err)
		}
		for _, i := range issues {
			if i.Location.Path == "" || i.Location.Lines.Begin < 1 || i.Severity == "" || i.Description == "" {
				t.Errorf("incomplete: %+v", i)
			}
			all = append(all, i.Fingerprint)
		}
		return all
	}
	doc := read(t, "failed")
	before := fingerprints(doc)
	if unique := slices.Compact(slices.Sorted(slices.Values(before))); len(before) < 3 || len(unique) != len(before) {
		t.Errorf("%d issues with %d fingerprints", len(before), len(unique))
	}
	for _, c := range doc.Cases {
		for _, a := range c.Assertions {
			a.Message += " and more"
		}
	}
	if after := fingerprints(doc); !slices.Equal(after, before) {
		t.Errorf("other fingerprints with other messages")
	}
}

package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
)

// claimsOf are the claims of a document. One about a case that was not measured is left out if another says the same of
// a measured case of another run: runs may measure the same in different ways.
func claimsOf(doc *results.Document) []*results.Claim {
	var all []*results.Claim
	for _, c := range doc.Claims {
		twin := func(o *results.Claim) bool { return o.Found != nil && o.Same(c.Claim) }
		if c.Found != nil || !slices.ContainsFunc(doc.Claims, twin) {
			all = append(all, c)
		}
	}
	return all
}

// claimStatus heads the column of what became of a claim.
const claimStatus = "Status"

// claimTables is the table of what documents say and of what was found; none without claims.
func claimTables(doc *results.Document) []textTable {
	if len(doc.Claims) == 0 {
		return nil
	}
	t := textTable{
		title: "Claims",
		head:  []string{"Case", "Metric", "Expected", "Found", results.ConfidenceText + " CI", claimStatus, "Source"},
		right: []bool{false, false, true, true, true, false, false},
		below: true,
	}
	var cases, reasons []string
	for _, c := range claimsOf(doc) {
		value, low, high := c.FoundText()
		t.rows = append(t.rows, []string{
			plain(c.Case), plain(c.Metric), plain(clip(c.ExpectedText(), " …")),
			sentence("", value, dash(value)), claimInterval(c, low, high), c.Status, claimSource(c),
		})
		if c.Message != "" {
			why, _, _ := strings.Cut(c.Message, "\n")
			cases = append(cases, plain(c.Case))
			reasons = append(reasons, sentence(": ", c.Status, plain(clip(why, " …"))))
		}
	}
	t.notes = append(firstOf(eachReason(cases, reasons)),
		"claims have no effect on the verdict; Status: agrees if the interval lies within the claim's tolerance")
	return []textTable{t}
}

// eachReason returns a note for each different reason of cases: "a and 2 more: why".
func eachReason(cases, reasons []string) (notes []string) {
	var groups ordered.Groups[string, string]
	for i, why := range reasons {
		ordered.AddOnce(&groups, why, cases[i])
	}
	for why, of := range groups.All() {
		what := of[0]
		if more := len(of) - 1; more > 0 {
			what += fmt.Sprintf(" and %d more", more)
		}
		notes = append(notes, what+": "+why)
	}
	return notes
}

// claimInterval formats the interval of what was found.
func claimInterval(c *results.Claim, low, high string) string {
	switch {
	case c.Found == nil || c.Found.CI == nil:
		return dash(low)
	case c.Gain():
		return gainInterval(c.Found.CI, low, high)
	}
	return results.ScaleFor(c.Found.Value, c.Unit).Interval(c.Found.Value, c.Found.CI)
}

// claimSource says which document makes a claim, and of what.
func claimSource(c *results.Claim) string {
	return plain(clip(sentence("; ", sentence(", ", c.Source, c.Date), c.Configuration, c.Says), " …"))
}

// claimClass is the CSS class of a claim's row.
func claimClass(status string) string {
	switch status {
	case results.ClaimImplausible, results.ClaimWorse:
		return "bad"
	case results.ClaimInconclusive, results.ClaimNotComparable, results.ClaimNotMeasured:
		return "doubt"
	case results.ClaimAgrees, results.ClaimBetter:
		return "good"
	}
	return ""
}

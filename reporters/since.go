package reporters

import (
	"fmt"
	"slices"

	"weir/results"
)

// sinces are what became of metrics since the last time, by the key of the case.
func sinces(doc *results.Document) map[string][]*results.Since {
	if doc.Previous == nil {
		return nil
	}
	out := map[string][]*results.Since{}
	for _, s := range doc.Previous.Since {
		out[s.Case] = append(out[s.Case], s)
	}
	return out
}

// sinceTitle heads what is said of the last time.
const sinceTitle = "Since the last time"

// mostSince is of how many metrics a finding says what they were.
const mostSince = 3

// lastTime says what the metrics of a finding were, one line each.
func lastTime(changes map[string][]*results.Since, f finding) []string {
	if len(changes) == 0 || f.assertion == nil {
		return nil
	}
	keys := f.assertion.Cases
	if f.of != nil {
		keys = []string{f.of.Key}
	}
	var metrics []string
	if f.assertion.Subject != nil {
		metrics = f.assertion.Subject.Metrics()
	}
	for _, part := range f.assertion.Parts {
		metrics = append(metrics, part.Subject.Metrics()...)
	}
	var out []string
	more := 0
	for _, key := range keys {
		for _, s := range changes[key] {
			switch {
			case !slices.Contains(metrics, s.Metric):
			case len(out) == mostSince:
				more++
			default:
				out = append(out, plain(sinceText(s, f.of == nil)))
			}
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return out
}

// sinceText says what a metric was and how it has changed.
func sinceText(s *results.Since, named bool) string {
	value, low, high := s.ChangeText()
	change := "now " + value
	switch {
	case low == "" && s.Change.CI != nil:
		change += ", and so few launches cannot show whether that is more than noise"
	case low == "":
		change += ", and one launch cannot show whether that is more than noise"
	case s.Change.BeyondLaunches():
		change += fmt.Sprintf(" (%s CI %s to %s), a change if sessions do not differ, of which nothing is known",
			results.ConfidenceText, low, high)
	case s.Change.Found:
		change += fmt.Sprintf(" (%s CI %s to %s), a real change", results.ConfidenceText, low, high)
	default:
		change += fmt.Sprintf(" (%s CI %s to %s), which may be noise", results.ConfidenceText, low, high)
	}
	where := ""
	if named {
		where = "@" + s.Case
	}
	return fmt.Sprintf("%s%s was %s; %s", s.Metric, where, s.Base, change)
}

// sinceLast are the lines of a report about the earlier session as a whole.
func sinceLast(doc *results.Document) []string {
	p := doc.Previous
	if p == nil {
		return nil
	}
	out := []string{
		plain(sentence(" ", "the last time was session", p.Session, "of",
			p.Started.UTC().Format("2006-01-02 15:04:05 UTC"), parenthesis(p.File)) + ", which ended as " + p.Status),
	}
	found, assumed := 0, 0
	for _, s := range p.Since {
		switch {
		case s.Change.BeyondLaunches():
			assumed++
		case s.Change.Found:
			found++
		}
	}
	switch {
	case len(p.Since) == 0:
		out = append(out, "no metric that assertions are about was measured in both")
	case assumed > 0:
		out = append(out, fmt.Sprintf("of %s that assertions are about, %d changed for real, and %d if sessions do not differ, of which nothing is known",
			plural(len(p.Since), "metric"), found, assumed))
	default:
		out = append(out, fmt.Sprintf("of %s that assertions are about, %d changed for real",
			plural(len(p.Since), "metric"), found))
	}
	if len(p.Differences) == 0 {
		return append(out, "nothing that is recorded of the environment and the settings differs")
	}
	all := differenceTexts(p.Differences)
	if more := len(all) - mostDifferences; more > 0 {
		all = append(all[:mostDifferences], fmt.Sprintf("and %d more; results.json has all", more))
	}
	for i, text := range all {
		all[i] = "differs: " + text
	}
	return append(out, all...)
}

// sinceShort is the same for a terminal, which says in how much they differ and not in what.
func sinceShort(doc *results.Document) []string {
	lines := sinceLast(doc)
	if len(lines) <= 2+mostSince {
		return lines
	}
	return append(lines[:2:2], fmt.Sprintf("%d things differ in environment and settings; report.md has them",
		len(doc.Previous.Differences)))
}

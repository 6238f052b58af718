package reporters

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/results"
)

// sinces are the changes of metrics since the previous session, by case key.
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

// sinceTitle heads the changes since the previous session.
const sinceTitle = "Since the previous session"

// mostSince is how many metrics of a finding have previous values.
const mostSince = 3

// beside lists notes on a finding's metrics, and their previous values.
func beside(doc *results.Document, changes map[string][]*results.Since, f finding) []string {
	return append(notesOn(f.of, f.assertion), lastTime(doc, changes, f)...)
}

// lastTime lists previous values of a finding's metrics, unless the assertion itself compares with that session.
func lastTime(doc *results.Document, changes map[string][]*results.Since, f finding) []string {
	if len(changes) == 0 || f.assertion == nil || previousIsBaseline(doc) && f.assertion.ComparesBaseline() {
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
				out = append(out, "last time: "+plain(sinceText(s, f.of == nil)))
			}
		}
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("last time: and %d more", more))
	}
	return out
}

// previousIsBaseline reports whether the previous session is the one that assertions compare with.
func previousIsBaseline(doc *results.Document) bool {
	return doc.Previous != nil && doc.Baseline != nil && doc.Previous.Session == doc.Baseline.Session
}

// sinceText formats a previous value and the change.
func sinceText(s *results.Since, named bool) string {
	value, low, high := s.ChangeText()
	change := "changed by " + value
	switch {
	case low == "" && s.Change.CI != nil:
		change += ", with too few launches to tell from noise"
	case low == "":
		change += ", with one launch, which cannot be told from noise"
	case s.Change.BeyondLaunches():
		change += fmt.Sprintf(" (%s CI %s to %s), a real change unless sessions differ, which is unknown",
			results.ConfidenceText, low, high)
	case s.Change.Found && s.Change.Assumes:
		change += fmt.Sprintf(" (%s CI %s to %s), a real change also if sessions vary by %s", results.ConfidenceText,
			low, high, results.PercentText(results.AssumedSessions))
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

// sinceLast describes the previous session as a whole.
func sinceLast(doc *results.Document) []string {
	p := doc.Previous
	if p == nil {
		return nil
	}
	role := ""
	if previousIsBaseline(doc) {
		role = "and is the baseline"
	}
	out := []string{
		plain(sentence(" ", "the previous session was", p.Session, "of",
			p.Started.UTC().Format("2006-01-02 15:04:05 UTC"), parenthesis(p.File)) +
			sentence(" ", ", which ended as "+p.Status, role)),
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
	if len(p.Since)+len(p.NotCompared) == 0 {
		out = append(out, "no asserted metric has launches in both that can be compared")
	} else {
		text := fmt.Sprintf("of %s, %d changed by more than noise",
			plural(len(p.Since)+len(p.NotCompared), "asserted metric"), found)
		if assumed > 0 {
			text += fmt.Sprintf("; %d more would have if sessions did not differ", assumed)
		}
		out = append(out, text+notCompared(p.NotCompared))
	}
	if len(p.Differences) == 0 {
		return append(out, "no recorded difference in environment and settings")
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

// mostNotCompared is how many reasons of metrics that were not compared are given.
const mostNotCompared = 2

// notCompared counts the metrics that were not compared, by reason, the most frequent first.
func notCompared(all []results.NotCompared) string {
	n := map[string]int{}
	var reasons []string
	for _, m := range all {
		if n[m.Reason]++; n[m.Reason] == 1 {
			reasons = append(reasons, m.Reason)
		}
	}
	slices.SortStableFunc(reasons, func(a, b string) int { return n[b] - n[a] })
	text, rest := "", len(all)
	for _, r := range reasons[:min(len(reasons), mostNotCompared)] {
		text += fmt.Sprintf("; %d not compared: %s", n[r], plain(r))
		rest -= n[r]
	}
	if rest > 0 {
		text += fmt.Sprintf("; %d not compared for other reasons", rest)
	}
	return text
}

// sinceShort is sinceLast for a terminal, with the number of differences only.
func sinceShort(doc *results.Document) []string {
	lines := sinceLast(doc)
	if len(lines) <= 2+mostSince {
		return lines
	}
	return append(lines[:2:2], fmt.Sprintf("%d things differ in environment and settings; report.md has them",
		len(doc.Previous.Differences)))
}

package reporters

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
)

// mostFindings is how many findings of a verdict a terminal gets in full.
const mostFindings = 20

// findings writes the findings of all verdicts, worst first, and those of assertions that are not in the tables.
func (t *terminal) findings(doc *results.Document) {
	for _, s := range []string{"error", "fail", "xpass", "inconclusive", "warn", "xfail", "info"} {
		all := sameAssertions(findings(doc, s))
		for i, f := range all {
			if i == mostFindings {
				fmt.Fprintf(&t.out, "… and %d more with verdict %s; report.md has them\n", len(all)-i, s)
				break
			}
			command := againText(doc, f)
			if rank(s) > rank("warn") {
				command = ""
			}
			isCommand := command != "" && remedy(f) == ""
			t.finding(f, isCommand && len(f.sameCases) < mostSelected)
			if command != "" && (i+1 == min(len(all), mostFindings) || againText(doc, all[i+1]) != command) {
				t.again(command, isCommand)
			}
		}
	}
	for _, a := range doc.Assertions { // not in the tables
		if a.Standing() == string(results.Pass) || a.Standing() == string(results.SkippedVerdict) {
			t.finding(found(a, over(doc, a)), false)
		}
	}
}

// sameAssertions merges findings of one assertion in several cases of a run into the one farthest from its bound.
func sameAssertions(all []finding) (out []finding) {
	type place struct{ run, name, place, text string }
	of := map[place][]finding{}
	at := func(f finding) (place, bool) {
		if f.assertion == nil || f.of == nil || len(f.sameCases) > 0 || f.busy {
			return place{}, false
		}
		return place{f.of.Run, f.name, f.place, f.assertion.Text}, true
	}
	for _, f := range all {
		if p, ok := at(f); ok {
			of[p] = append(of[p], f)
		}
	}
	for _, f := range all {
		p, ok := at(f)
		switch list := of[p]; {
		case !ok || len(list) == 1:
			out = append(out, f)
		case list != nil:
			out = append(out, farthest(list))
			of[p] = nil
		}
	}
	return out
}

// farthest is the finding farthest from its bound, with the cases of the others.
func farthest(list []finding) finding {
	worst := 0
	for i, f := range list {
		if violation(f) > violation(list[worst]) {
			worst = i
		}
	}
	f := list[worst]
	for i, other := range list {
		if i != worst {
			f.sameCases = append(f.sameCases, other.of)
		}
		if slices.ContainsFunc(other.likely, func(l likelyCause) bool { return l.where == "" }) {
			f.beside, f.likely = other.beside, other.likely // the others refer to it
		}
	}
	f.where = fmt.Sprintf("%s … and %s", f.where, plural(len(f.sameCases), "more case"))
	return f
}

// mostAlso is how many further cases of a finding are named.
const mostAlso = 3

// also names further cases of a finding.
func (f finding) also() string {
	if f.assertion == nil || len(f.sameCases) == 0 || f.busy {
		return ""
	}
	var names []string
	for _, c := range f.sameCases[:min(len(f.sameCases), mostAlso)] {
		names = append(names, plain(c.Key))
	}
	if more := len(f.sameCases) - mostAlso; more > 0 {
		names = append(names, fmt.Sprintf("… and %d more", more))
	}
	return "also in " + strings.Join(names, ", ")
}

// finding writes what was asserted and where, what was found, and remarks or the likely cause, a line each. named: a
// command names all cases.
func (t *terminal) finding(f finding, named bool) {
	label := f.label()
	where := f.where
	if f.assertion != nil && f.name != "" {
		where = sentence("  ", f.promised(), f.where)
	}
	head := wrapped(label+"  "+sentence("  ", where, parenthesis(f.place)), t.Width, "    ")
	fmt.Fprintf(&t.out, "%s%s\n", t.colored(f.standing, label), strings.TrimPrefix(head, label))
	also := f.also()
	if named {
		also = ""
	}
	found, remarks := f.clauses()
	remarks = sentence("; ", append([]string{remarks, also}, f.beside...)...)
	lines := []string{found, remarks}
	if cause := inBrief(f.likely); cause != "" {
		lines = []string{sentence("; ", lines...), cause}
	}
	for _, line := range lines {
		if line != "" {
			t.line("    ", line)
		}
	}
	for _, line := range f.log {
		fmt.Fprintf(&t.out, "    | %s\n", line)
	}
}

// promised is the name of an assertion, with its text if that is another one.
func (f finding) promised() string {
	if text := plain(f.assertion.Text); text != f.name && f.name == plain(f.assertion.Name) {
		return sentence(": ", f.name, text)
	}
	return f.name
}

// clauses are what was found, and the remarks about it. What few launches of a pass may have missed is told once for
// all passes.
func (f finding) clauses() (found, remarks string) {
	if len(f.reasons) == 0 {
		return f.whole(), ""
	}
	var said []results.Reason
	for _, r := range f.reasons {
		if r.Kind != results.UnseenMode {
			said = append(said, r)
		}
	}
	n := 0
	for text := " "; n < len(said) && strings.HasSuffix(text, " "); n++ { // it goes on in the next one
		text = wording.Sentence(said[n])
	}
	text := func(reasons []results.Reason) string { return plain(wording.Message(reasons)) }
	return text(said[:n]), sentence("; ", text(said[n:]), f.decidedEarly(), acceptedText(f.assertion))
}

// decidedEarly says that an earlier look decided than that of all launches, which tables have.
func (f finding) decidedEarly() string {
	if f.assertion == nil || f.of == nil || f.assertion.Observed == nil || f.assertion.Verdict != results.Fail {
		return ""
	}
	n, all := f.assertion.Observed.N, len(f.of.Succeeded())
	if n >= all || n < 2 {
		return ""
	}
	return fmt.Sprintf("decided by the first %d of %d launches", n, all)
}

// unseenModes says what the launches of passes may have missed, for the pass with the fewest.
func unseenModes(doc *results.Document) []string {
	text, most := "", 0.
	for _, a := range doc.AllAssertions() {
		for _, r := range a.Reasons {
			share := r.Number("share")
			if r.Kind != results.UnseenMode || a.Verdict != results.Pass || share == nil || *share <= most {
				continue
			}
			text, most = plain(wording.Sentence(r)), *share
		}
	}
	if text == "" {
		return nil
	}
	return []string{"passes: " + text}
}

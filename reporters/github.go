package reporters

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"weir/results"
)

// annotations is how many annotations of one level GitHub shows of a step; it
// drops the others without a word.
const annotations = 10

// annotationLevels are GitHub's levels with the standings that each tells of, in
// the order in which they are told. An inconclusive gate is a warning: its exit
// code is of its own, and a job may let it pass.
var annotationLevels = []struct {
	level     string
	standings []string
}{
	{"error", []string{"fail", "xpass", "error"}},
	{"warning", []string{"inconclusive", "warn"}},
	{"notice", []string{"info", "xfail"}},
}

// GitHub writes workflow commands: annotations on the lines of the scenario that
// do not hold, those that miss by most first. What is more than GitHub shows is
// counted in the last of its level. A session in which all holds has none.
func GitHub(w io.Writer, doc *results.Document) error {
	var b strings.Builder
	for _, text := range banners(doc) {
		b.WriteString(command("notice", annotation{title: "weir", message: text}))
	}
	for _, l := range annotationLevels {
		var found []finding
		for _, s := range l.standings {
			fs := findings(doc, s)
			slices.SortStableFunc(fs, func(x, y finding) int { return cmp.Compare(y.excess(), x.excess()) })
			found = append(found, fs...)
		}
		limit := annotations
		if l.level == "notice" {
			limit -= len(banners(doc))
		}
		for i, f := range found {
			if i == limit-1 && len(found) > limit {
				b.WriteString(command(l.level, annotation{title: "weir", message: remaining(found[i:])}))
				break
			}
			b.WriteString(command(l.level, annotated(doc, f)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// excess is how far a value lies beyond the nearer of its bounds, as the logarithm
// of their ratio; 0 inside of them. What has no such number comes before all that do.
func (f finding) excess() float64 {
	if f.assertion == nil || f.assertion.Observed == nil {
		return math.Inf(1)
	}
	v, worst := f.assertion.Observed.Value, 0.
	for _, end := range []struct {
		bound *float64
		sign  float64
	}{{f.assertion.Bounds.Lower, -1}, {f.assertion.Bounds.Upper, 1}} {
		if end.bound == nil {
			continue
		}
		if by := end.sign * math.Log(v / *end.bound); !math.IsNaN(by) {
			worst = max(worst, by)
		}
	}
	return worst
}

// remaining counts what has no annotation of its own.
func remaining(fs []finding) string {
	var counts []string
	for _, s := range standings {
		n := 0
		for _, f := range fs {
			if f.standing == s {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, s))
		}
	}
	return "and more than is shown here: " + strings.Join(counts, ", ") + "; the report has all"
}

// annotation is one workflow command; file and line may be absent.
type annotation struct {
	file    string
	line    int
	title   string
	message string
}

// annotated is a finding at the line of its assertion, of its run, or at the scenario.
func annotated(doc *results.Document, f finding) annotation {
	a := annotation{file: plain(doc.Scenario.File), title: sentence(" ", f.label()+":", f.where, f.name)}
	if f.of != nil && f.of.Line > 0 {
		a.file, a.line = plain(f.of.File), f.of.Line
	}
	lines := []string{f.message}
	if f.assertion != nil {
		a.file, a.line = plain(f.assertion.File), f.assertion.Line
		lines = append(lines, "asserted: "+plain(f.assertion.Text))
	}
	for _, line := range f.since {
		lines = append(lines, "last time: "+line)
	}
	for _, l := range f.log {
		lines = append(lines, "  | "+l)
	}
	if command := againText(doc, f); command != "" {
		lines = append(lines, "again: "+command)
	}
	a.message = clip(strings.Join(lines, "\n"), "\n… cut; results.json has all")
	return a
}

// What GitHub's runner takes apart at is written as it takes it back.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// command writes a workflow command as one line.
func command(level string, a annotation) string {
	var properties []string
	add := func(name, value string) {
		if value = strings.TrimSpace(value); value != "" {
			properties = append(properties, name+"="+commandProperty.Replace(value))
		}
	}
	add("file", a.file)
	if a.line > 0 {
		add("line", strconv.Itoa(a.line))
	}
	add("title", a.title)
	return "::" + level + " " + strings.Join(properties, ",") + "::" + commandData.Replace(a.message) + "\n"
}

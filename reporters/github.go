package reporters

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/results"
)

// annotations is how many annotations of a level GitHub shows per step; it drops others silently.
const annotations = 10

// annotationLevels are GitHub's levels with the standings that use them, in order. An inconclusive gate is
// a warning: it has its own exit code, which a job may allow.
var annotationLevels = []struct {
	level     string
	standings []string
}{
	{"error", []string{"fail", "xpass", "error"}},
	{"warning", []string{"inconclusive", "warn"}},
	{"notice", []string{"info", "xfail"}},
}

// GitHub writes workflow commands: annotations on the scenario's lines that do not hold, largest miss
// first. Those beyond GitHub's limit are counted in the last of a level. A session without failures has
// none.
func GitHub(w io.Writer, doc *results.Document) error {
	var b strings.Builder
	for _, text := range banners(doc) {
		b.WriteString(command("notice", annotation{title: "weir", message: text}))
	}
	unjudged := nothingJudged(doc)
	if unjudged != "" {
		b.WriteString(command("warning", annotation{title: "weir", message: unjudged}))
	}
	for _, l := range annotationLevels {
		var found []finding
		for _, s := range l.standings {
			fs := findings(doc, s)
			slices.SortStableFunc(fs, func(x, y finding) int { return cmp.Compare(y.excess(), x.excess()) })
			found = append(found, fs...)
		}
		limit := annotations
		switch {
		case l.level == "notice":
			limit -= len(banners(doc))
		case l.level == "warning" && unjudged != "":
			limit--
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

// nothingJudged says why a green session gates nothing: all of its assertions are skipped. "": it has others, or none.
func nothingJudged(doc *results.Document) string {
	lines := skippedLines(doc)
	for verdict, n := range doc.Summary.Assertions {
		if n > 0 && verdict != string(results.SkippedVerdict) {
			return ""
		}
	}
	if len(lines) == 0 {
		return ""
	}
	text := "no assertion was judged: " + lines[0]
	if more := len(lines) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}

// excess is the distance of a value beyond the nearer bound, as the log of their ratio; 0 inside. Findings
// without such a number come first.
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

// remaining counts findings without their own annotation.
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
	return "not shown here: " + strings.Join(counts, ", ") + "; the report lists all"
}

// annotation is one workflow command; file and line are optional.
type annotation struct {
	file    string
	line    int
	title   string
	message string
}

// annotated places a finding at the line of its assertion, of its run, or at the scenario.
func annotated(doc *results.Document, f finding) annotation {
	a := annotation{file: plain(doc.Scenario.File), title: sentence(" ", f.label()+":", f.where, f.name)}
	if f.of != nil && f.of.Line > 0 {
		a.file, a.line = plain(f.of.File), f.of.Line
	}
	lines := []string{f.whole()}
	if f.assertion != nil {
		a.file, a.line = plain(f.assertion.File), f.assertion.Line
		lines = append(lines, "asserted: "+plain(f.assertion.Text))
	}
	lines = append(lines, f.context()...)
	for _, l := range f.log {
		lines = append(lines, "  | "+l)
	}
	if command := againText(doc, f); command != "" {
		lines = append(lines, "again: "+command)
	}
	a.message = clip(strings.Join(lines, "\n"), "\n… cut; results.json has all")
	return a
}

// Escapes of GitHub's runner.
var (
	commandData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// command formats a workflow command as one line.
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

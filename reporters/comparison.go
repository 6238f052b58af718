package reporters

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/results"
)

// effectVerdicts lists verdicts, worst first, with the standing that gives their colour.
var effectVerdicts = []struct {
	verdict  results.EffectVerdict
	standing string
}{
	{results.EffectError, "error"}, {results.Regression, "fail"}, {results.Unclear, "inconclusive"},
	{results.Improved, "pass"}, {results.NoRegression, "pass"}, {results.Reported, "info"},
}

func standingOf(v results.EffectVerdict) string {
	for _, e := range effectVerdicts {
		if e.verdict == v {
			return e.standing
		}
	}
	return "error" // a verdict that is not known is not known to be harmless
}

func effectLabel(v results.EffectVerdict) string {
	return sentence(" ", symbols[standingOf(v)], string(v))
}

func effectColumns(c *results.Comparison) []tableColumn[*results.Effect] {
	value := func(o func(*results.Effect) *results.Observed) func(*results.Effect) string {
		return func(e *results.Effect) string { return observedText(o(e), e.Unit) }
	}
	change := func(text func(*results.Effect) string) func(*results.Effect) string {
		return func(e *results.Effect) string {
			if e.Change == nil {
				return "-"
			}
			return text(e)
		}
	}
	return []tableColumn[*results.Effect]{
		{"case", false, 0, func(e *results.Effect) string { return plain(e.Case) }},
		{"metric", false, 0, func(e *results.Effect) string { return sentence("", plain(e.Metric), dash(e.Metric)) }},
		{"base", true, 2, value(func(e *results.Effect) *results.Observed { return e.Base })},
		{"new", true, 1, value(func(e *results.Effect) *results.Observed { return e.New })},
		{"change", true, 0, change(func(e *results.Effect) string { v, _, _ := e.ChangeText(); return v })},
		{results.PercentText(c.Confidence) + " CI", true, 3, change(func(e *results.Effect) string {
			_, low, high := e.ChangeText()
			if low == "" && e.Change.CI != nil {
				return tooWide
			}
			return signedInterval(low, high)
		})},
		{"real?", false, 4, change(func(e *results.Effect) string {
			if e.Base == nil {
				return "-" // a mean over cases
			}
			return shownText(e.Change)
		})},
		{"finds", true, 5, change((*results.Effect).DetectableText)},
		{"n", true, 6, change(func(e *results.Effect) string {
			if e.Base == nil {
				return "-"
			}
			return launchesOf(e)
		})},
		{"verdict", false, 0, func(e *results.Effect) string {
			return effectLabel(e.Verdict)
		}},
	}
}

// effectRows returns the effects followed by their geometric means over cases.
func effectRows(c *results.Comparison) []*results.Effect {
	out := slices.Clone(c.Effects)
	for _, g := range results.Geomeans(c.Effects, c.Margin) {
		out = append(out, &results.Effect{
			Case: "geomean of " + plural(g.Cases, "case"), Metric: g.Metric, Better: g.Better,
			Change: &results.Change{Value: g.Change, CI: g.CI}, Verdict: g.Verdict,
		})
	}
	return out
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return ""
}

func launchesOf(e *results.Effect) string {
	if e.Pairs > 0 && e.Pairs == e.Base.N && e.Pairs == e.New.N {
		return plural(e.Pairs, "pair")
	}
	return strconv.Itoa(e.Base.N) + "+" + strconv.Itoa(e.New.N)
}

// effectLegend explains the columns and verdicts of a comparison.
func effectLegend(c *results.Comparison) []string {
	margin := results.Percent.WithUnit(results.Percent.Exact(c.Margin))
	lines := []string{
		"change: new against base, in percent of the base, or in the metric's unit if the metric may be 0",
		realLegend(c),
		"finds: the smallest change for the worse that these launches detect with a probability of 80 %",
		"regression: the whole interval is worse than the base by more than the margin of " + margin +
			"; inconclusive: the interval crosses the margin; improved: a change for the better",
	}
	if len(results.Geomeans(c.Effects, c.Margin)) > 0 {
		text := "geomean: geometric mean over the cases of a metric; its interval has the mean width of theirs, because cases may be correlated; it does not affect the exit code"
		if c.CrossSession {
			text += ", and is inconclusive if sessions that vary by " + results.PercentText(results.AssumedSessions) +
				" may explain it"
		}
		lines = append(lines, text)
	}
	if comparesQuantiles(c) {
		lines = append(lines, ownQuantiles)
	}
	if c.Multiple != "" {
		lines = append(lines, "multiple: all regressions share one error budget (Holm)")
	}
	if c.CrossSession {
		lines = append(lines, crossLegend(c))
	}
	return lines
}

// realLegend explains which changes are found.
func realLegend(c *results.Comparison) string {
	text := "real?: significant at a false discovery rate of " + results.PercentText(1-c.Confidence) +
		" over all rows (Benjamini-Hochberg)"
	any := func(is func(*results.Change) bool) bool {
		return slices.ContainsFunc(c.Effects, func(e *results.Effect) bool { return e.Change != nil && is(e.Change) })
	}
	if any(func(d *results.Change) bool { return d.Shift != 0 }) {
		text += ", relative to the other cases of the metric"
	}
	if any(func(d *results.Change) bool { return d.Mirrored }) {
		text += ", or because many cases lie as far on this side of the common shift and hardly any on the other"
	}
	if any(func(d *results.Change) bool { return d.Found && d.Assumes }) {
		text += "; how sessions differ is unknown, and a change is real if it is one also for sessions that vary by " +
			results.PercentText(results.AssumedSessions)
	}
	if any((*results.Change).BeyondLaunches) {
		text += "; 'if sessions are alike': beyond the noise of launches, but how sessions differ is unknown, so it is neither a regression nor counted as real"
	}
	return text
}

// crossLegend explains how intervals between two sessions account for the difference between sessions.
func crossLegend(c *results.Comparison) string {
	text := "cross-session: the difference between sessions is known where the row says so"
	if slices.ContainsFunc(c.Effects, func(e *results.Effect) bool { return e.Change != nil && e.Change.Assumes }) {
		text = "cross-session: intervals include the noise of launches, and the difference between sessions only where the row says so"
	}
	return text + "; give earlier sessions by --noise-from SESSION, compare 8 or more cases of a metric, or interleave the launches in one session"
}

// ComparisonText writes a comparison for a terminal: the sides, other differences, all effects, then the
// reasons of those that are not well. A width above zero is the terminal's.
func ComparisonText(w io.Writer, c *results.Comparison, color bool, width int) error {
	t := terminal{Look: Look{Color: color, Width: width}}
	if c.Simulated {
		fmt.Fprintf(&t.out, "%s\n\n", t.colored("warn", wrapped(partlySimulated, t.Width, "  ")))
	}
	for _, side := range []struct {
		name string
		of   results.Compared
	}{{"base", c.Base}, {"new ", c.New}} {
		fmt.Fprintf(&t.out, "%s\n", wrapped(side.name+"  "+comparedText(side.of), t.Width, "  "))
	}
	fmt.Fprintf(&t.out, "\n%s\n",
		t.colored(environmentStanding(c), wrapped(environmentText(c), t.Width, "  ")))
	for _, d := range firstOf(differenceTexts(c.Differences)) {
		t.line("  ", d)
	}
	for _, s := range c.Shifts {
		fmt.Fprintf(&t.out, "\n%s\n", t.colored("warn", wrapped(plain(s.String()), t.Width, "  ")))
	}
	whole := true
	if len(c.Effects) > 0 {
		var table string
		table, whole = t.effects(c)
		fmt.Fprintf(&t.out, "\n%s\n\n", table)
	}
	t.details("", details(c, whole))
	for _, line := range leftOvers(c) {
		t.line("  ", line)
	}
	if len(notable(c))+len(leftOvers(c)) > 0 {
		t.out.WriteByte('\n')
	}
	for _, line := range effectLegend(c) {
		t.line("  ", line)
	}
	fmt.Fprintf(&t.out, "\n%s\n",
		t.colored(comparisonStanding(c), wrapped(comparisonHeadline(c), t.Width, "  ")))
	_, err := io.WriteString(w, t.out.String())
	return err
}

// notable returns the effects with details beyond the table, worst first: all that are not well, and real
// changes.
func notable(c *results.Comparison) []*results.Effect {
	var out []*results.Effect
	for _, v := range effectVerdicts {
		for _, e := range c.Effects {
			if e.Verdict == v.verdict && (e.Verdict != results.NoRegression || e.Change.Found) {
				out = append(out, e)
			}
		}
	}
	return out
}

// detail is the part of effects that their rows do not show.
type detail struct {
	verdict results.EffectVerdict
	names   []string
	text    string
}

// details returns those of notable effects, each text once. If the table is not full, they include its
// numbers.
func details(c *results.Comparison, full bool) []*detail {
	var out []*detail
	index := map[string]*detail{}
	for _, e := range notable(c) {
		text := plain(e.Message)
		if full && e.Change != nil && len(e.Reasons) > 1 {
			text = plain(wording.Message(e.Reasons[1:])) // after the values, change, interval and launches
		}
		key := string(e.Verdict) + "\x00" + text
		d := index[key]
		if d == nil {
			d = &detail{verdict: e.Verdict, text: text}
			index[key] = d
			out = append(out, d)
		}
		d.names = append(d.names, plain(effectName(e)))
	}
	for _, d := range out {
		if more := len(d.names) - mostShown; more > 0 {
			d.names = append(d.names[:mostShown:mostShown], fmt.Sprintf("%d more", more))
		}
	}
	return out
}

// line has all of a detail.
func (d *detail) line() string {
	return fmt.Sprintf("%s %s: %s", effectLabel(d.verdict), strings.Join(d.names, " and "), d.text)
}

// details writes details, after the name of their document.
func (t *terminal) details(document string, all []*detail) {
	for _, d := range all {
		verdict := effectLabel(d.verdict)
		head := sentence("  ", document, verdict)
		names := wrapped(head+"  "+d.names[0], t.Width, "    ")
		fmt.Fprintf(&t.out, "%s%s\n", sentence("  ", document, t.colored(standingOf(d.verdict), verdict)),
			strings.TrimPrefix(names, head))
		for _, name := range d.names[1:] {
			t.line("    ", "and "+name)
		}
		if d.text != "" {
			t.line("    ", d.text)
		}
	}
}

func leftOvers(c *results.Comparison) []string {
	var out []string
	for _, side := range []struct {
		name string
		list []results.LeftOver
	}{{"base", c.OnlyBase}, {"new", c.OnlyNew}} {
		var lines []string
		for _, l := range side.list {
			lines = append(lines, fmt.Sprintf("only in %s: %s (%s)", side.name, plain(l.Case), plain(l.Reason)))
		}
		out = append(out, firstOf(lines)...)
	}
	return out
}

func effectName(e *results.Effect) string {
	name := e.Case
	if e.BaseCase != "" {
		name = e.BaseCase + " -> " + e.Case
	}
	return sentence("  ", name, e.Metric)
}

// comparisonStanding is the worst standing of the effects.
func comparisonStanding(c *results.Comparison) string {
	n := c.CountByVerdict()
	for _, v := range effectVerdicts {
		if n[v.verdict] > 0 {
			return v.standing
		}
	}
	return ""
}

func comparisonHeadline(c *results.Comparison) string {
	n := c.CountByVerdict()
	var parts []string
	for _, v := range effectVerdicts {
		if n[v.verdict] > 0 {
			word := string(v.verdict)
			if v.verdict == results.Regression && n[v.verdict] > 1 {
				word += "s"
			}
			parts = append(parts, fmt.Sprintf("%d %s", n[v.verdict], word))
		}
	}
	found := 0
	for _, e := range c.Effects {
		if e.Change != nil && e.Change.Found {
			found++
		}
	}
	return sentence("; ", strings.Join(parts, ", "), plural(found, "real change")+" in all",
		fmt.Sprintf("exit code %d", c.ExitCode))
}

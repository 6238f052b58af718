package reporters

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// moreLines limits the differences and the omitted files of a trend on a terminal.
const moreLines = 12

// Sessions writes the sessions of a history, one per line.
func Sessions(w io.Writer, entries []history.Entry) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, e := range entries {
		if i == 0 {
			fmt.Fprintln(t, "session\tstarted (UTC)\tscenario\tstatus\tcases\tweir\tenvironment\tnodes")
		}
		status := labelled(e.Status)
		if e.Simulated {
			status += " (simulated)"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", plain(e.Session), e.Started.UTC().Format("2006-01-02 15:04"),
			plain(e.Scenario), plain(status),
			caseCountsText(e), plain(e.Weir), plain(shortDigest(e.Fingerprint)),
			plain(strings.Join(e.Nodes, ",")))
	}
	return t.Flush()
}

// caseCountsText are the numbers of a session's cases by status.
func caseCountsText(e history.Entry) string {
	var cases []string
	for _, s := range caseCounts {
		if n := e.Cases[s]; n > 0 {
			cases = append(cases, fmt.Sprintf("%d %s", n, s))
		}
	}
	return strings.Join(cases, ", ")
}

// shortDigest is enough of a digest to distinguish a few.
func shortDigest(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if !ok {
		hex = digest
	}
	return hex[:min(len(hex), 12)]
}

// versionText is a version of weir with 12 digits of its commit, which is all of it if the version names no release.
func versionText(version, commit string) string {
	short := commit[:min(len(commit), 12)]
	if commit != "" && (version == "(devel)" || strings.Contains(version, short)) {
		version = ""
	}
	return plain(sentence(" ", version, short))
}

// Trend writes a metric over the sessions of a history for a terminal with this many columns (0: unknown):
// a chart, then each change with its levels, sessions and differences.
func Trend(w io.Writer, t *history.Trend, width int) error {
	var b strings.Builder
	if text := simulatedSessions(t); text != "" {
		b.WriteString(text + "\n\n")
	}
	if text := definedDifferently(t); text != "" {
		b.WriteString(text + "\n\n")
	}
	scale := results.ScaleFor(t.Levels[len(t.Levels)-1].Value, t.Unit)
	head := plain(t.Metric) + " of " + plain(t.Case)
	if scale.Unit != "" {
		head += " in " + scale.Unit
	}
	fmt.Fprintf(&b, "%s: %s of %s\n\n", head, plural(len(t.Points), "session"), plain(t.Scenario))
	b.WriteString(chart(t, scale, width))
	b.WriteString("\n")
	b.WriteString(changesText(t) + "\n")
	for i, c := range t.Changes {
		fmt.Fprintf(&b, "\n%d  %s\n   %s\n", i+1, sentence(", ", changeText(t, i), symbolic(c.Effect), pText(c.P)),
			betweenText(t, c))
		if len(c.Differ) == 0 {
			b.WriteString("   " + nothingDiffers + "\n")
		}
		for j, d := range c.Differ {
			if j == moreLines {
				fmt.Fprintf(&b, "   and %d more differences; --format json has all\n", len(c.Differ)-j)
				break
			}
			fmt.Fprintf(&b, "   %s\n", differenceText(d))
		}
	}
	for _, d := range t.Drifts {
		fmt.Fprintf(&b, "\n-  %s\n   %s\n", sentence(", ", driftText(t, d), symbolic(d.Effect), pText(d.P)),
			driftedText(t, d))
	}
	for i, p := range t.LeftOut {
		if i == 0 {
			b.WriteString("\n")
		}
		if i == moreLines {
			fmt.Fprintf(&b, "and %d more left out; --format json has all\n", len(t.LeftOut)-i)
			break
		}
		fmt.Fprintf(&b, "left out %s: %s\n", plain(p.File), plain(p.Reason))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// simulatedSessions says how many sessions moved no data; "" if all did.
func simulatedSessions(t *history.Trend) string {
	simulated := 0
	for _, p := range t.Points {
		if p.Simulated {
			simulated++
		}
	}
	if simulated == 0 {
		return ""
	}
	return fmt.Sprintf("SIMULATED: the numbers of %d of %s come from a declared model", simulated,
		plural(len(t.Points), "session"))
}

// definedDifferently says that sessions define the metric differently; "" if none do.
func definedDifferently(t *history.Trend) string {
	var texts []string
	for _, d := range t.Definitions {
		texts = append(texts, results.DefinitionText(d))
	}
	if len(texts) == 0 {
		return ""
	}
	return plain(fmt.Sprintf("DEFINED DIFFERENTLY: the sessions have %s by %s", t.Metric,
		strings.Join(texts, "; and by ")))
}

// changesText says how many changes were found, and by what test.
func changesText(t *history.Trend) string {
	small := ""
	if t.Smaller > 0 {
		small = fmt.Sprintf("; %s of less than %s not reported (--magnitude)", plural(t.Smaller, "change"),
			results.Percent.WithUnit(results.Percent.Exact(t.Magnitude)))
	}
	by := fmt.Sprintf("of level found (likelihood ratio test, threshold p = %s)", raw(t.Significance))
	switch {
	case len(t.Points) < history.FirstLook:
		return fmt.Sprintf("too few sessions to detect a change: at least %d are needed", history.FirstLook) +
			newestText(t)
	case len(t.Changes) == 0 && len(t.Drifts) > 0:
		return plural(len(t.Drifts), "steady drift") + ", no change " + by + small
	case len(t.Changes) == 0:
		return "no change " + by + "; " + levelText(t, 0) + small + newestText(t)
	case len(t.Drifts) > 0:
		return plural(len(t.Changes), "change") + " and " + plural(len(t.Drifts), "steady drift") + " " + by + small
	}
	return plural(len(t.Changes), "change") + " " + by + small
}

// driftText is a drift with its size: "-1.0% with each session: 20.0 -> 16.6 GB/s (-17%)".
func driftText(t *history.Trend, d history.Drift) string {
	scale := results.ScaleFor(d.Values[0], t.Unit)
	first, _, _ := scale.Estimate(d.Values[0], nil)
	last, _, _ := scale.Estimate(d.Values[1], nil)
	each := fmt.Sprintf("%+.2g%%", 100*d.EachSession)
	if !d.Ratio {
		each = plain(signed(d.EachSession, t.Unit))
	}
	text := fmt.Sprintf("%s with each session: %s -> %s", each, first, scale.WithUnit(last))
	if d.Ratio {
		text += fmt.Sprintf(" (%+.1f%%)", 100*(d.Values[1]/d.Values[0]-1))
	}
	return text
}

// signed formats a difference in a unit.
func signed(v float64, unit string) string {
	text := measuredText(v, unit)
	if v > 0 {
		text = "+" + text
	}
	return text
}

// driftedText says from when to when.
func driftedText(t *history.Trend, d history.Drift) string {
	return fmt.Sprintf("from %s to %s, raised with %s", sessionText(t.Points[d.From]), sessionText(t.Points[d.To-1]),
		plain(d.Raised))
}

// newestText says how far the newest sessions are from the median of those before, if that is far more than these
// differ: too few sessions are no level yet. "": they are not.
func newestText(t *history.Trend) string {
	const fewest, ofLevel, far = 3, 3, 2 // sessions before, sessions of a level, ranges of those before
	var values []float64
	for _, p := range t.Points {
		values = append(values, p.Value)
	}
	for newest := ofLevel - 1; newest > 0; newest-- {
		if len(values)-newest < fewest {
			continue
		}
		now, before := values[len(values)-newest:], slices.Sorted(slices.Values(values[:len(values)-newest]))
		median, enough := before[len(before)/2], far*(before[len(before)-1]-before[0])
		if low, high := slices.Min(now), slices.Max(now); median <= 0 || low <= median+enough && high >= median-enough {
			continue
		}
		which := "the newest session is"
		if newest > 1 {
			which = fmt.Sprintf("the newest %d sessions are", newest)
		}
		return fmt.Sprintf("; %s %+.1f%% from the median of those before, and a level has %d sessions or more", which,
			100*(now[len(now)-1]/median-1), ofLevel)
	}
	return ""
}

const nothingDiffers = "no recorded difference between them"

// changeText is a change with its levels: "12.19 GB/s (…) -> 10.20 GB/s (…): -16.3%".
func changeText(t *history.Trend, i int) string {
	return sentence(": ", levelText(t, i)+" -> "+levelText(t, i+1), size(t, i))
}

// leastP is the smallest p-value that is known precisely.
const leastP = 0.001

// pText formats a p-value with its known digits.
func pText(p float64) string {
	if p < leastP {
		return "p<" + raw(leastP)
	}
	return "p=" + quantity.Digits(p, 2)
}

func betweenText(t *history.Trend, c history.Change) string {
	text := fmt.Sprintf("between %s and %s", sessionText(t.Points[c.At-1]), sessionText(t.Points[c.At]))
	if c.Raised != "" {
		text += ", raised with " + plain(c.Raised)
	}
	return text
}

// levelText is a level with its interval over sessions.
func levelText(t *history.Trend, i int) string {
	l := t.Levels[i]
	return results.Observed{Value: l.Value, Unit: t.Unit, CI: l.CI, N: l.To - l.From}.String()
}

// size is the size of a change, with the digits that the levels' intervals support.
func size(t *history.Trend, i int) string {
	if t.Changes[i].Ratio == nil {
		return ""
	}
	by := *t.Changes[i].Ratio - 1
	var half float64
	for _, l := range t.Levels[i : i+2] {
		if l.CI != nil {
			half = math.Hypot(half, (l.CI[1]-l.CI[0])/2/l.Value)
		}
	}
	var ci *[2]float64
	if half > 0 {
		ci = &[2]float64{by - half, by + half}
	}
	text, _, _ := results.Scale{Unit: "%", Factor: 100}.Estimate(by, ci)
	if by > 0 {
		text = "+" + text
	}
	return text + "%"
}

// symbolic is a word for an effect with its symbol.
func symbolic(effect string) string {
	switch effect {
	case "worse":
		return "✗ worse"
	case "better":
		return "✓ better"
	}
	return ""
}

func sessionText(p history.Point) string {
	return plain(p.Session) + " (" + p.Started.UTC().Format("2006-01-02 15:04") + ")"
}

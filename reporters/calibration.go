package reporters

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
)

// References writes a calibration as a file of references for the scenario language. The origin of the
// numbers and suggested assertions are in comments.
func References(w io.Writer, c *results.Calibration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Proposed by weir calibrate from %s of scenario %s.\n", plural(len(c.Sessions), "session"),
		plain(c.Scenario))
	b.WriteString("# Review it before use; it is never updated automatically. A scenario names this file\n")
	b.WriteString("# as references, and contains the assertions given above its tables.\n")
	if c.Simulated {
		b.WriteString("# " + followsModel + "\n")
	}
	for _, s := range c.Sessions {
		fmt.Fprintf(&b, "#   %s\n", calibratedText(s))
	}
	if len(c.Sessions) == 1 {
		b.WriteString("# " + singleSession + "\n")
	}
	for _, t := range c.Targets {
		if t.Refused != "" {
			fmt.Fprintf(&b, "# not proposed: %s of %s: %s\n", t.Metric, plain(t.Case), plain(t.Refused))
		}
	}
	fmt.Fprintf(&b, "reference: %s\n", scalar(c.Scenario))
	fmt.Fprintf(&b, "description: %s\n", scalar(period(c)))
	if c.Environment != "" && !c.Simulated { // a model gives the same anywhere
		b.WriteString("# Environment of the measurements: in another one, assertions on these values are errors.\n")
		b.WriteString("# Without this line they apply everywhere.\n")
		fmt.Fprintf(&b, "environment: %s\n", scalar(c.Environment))
	}
	b.WriteString("tables:\n")
	for _, run := range tablesOf(c) {
		writeTable(&b, c, run)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

const (
	followsModel  = "SIMULATED: the numbers come from a declared model"
	singleSession = "From a single session: the tolerances do not cover the difference between sessions, which is unknown."
)

// tablesOf lists the runs with proposals, in order.
func tablesOf(c *results.Calibration) []string {
	var out []string
	for _, t := range c.Targets {
		if t.Refused == "" && !slices.Contains(out, t.Run) {
			out = append(out, t.Run)
		}
	}
	return out
}

// writeTable writes a row for each case of a run, preceded by assertions that hold for all: each metric
// with the largest tolerance of its cases.
func writeTable(b *strings.Builder, c *results.Calibration, run string) {
	widest := map[string]float64{}
	var metrics, cases []string
	byCase := map[string][]*results.Target{}
	for _, t := range c.Targets {
		if t.Run != run || t.Refused != "" {
			continue
		}
		metrics = ordered.Append(metrics, t.Metric)
		widest[t.Metric] = max(widest[t.Metric], t.Tolerance)
		if byCase[t.Case] == nil {
			cases = append(cases, t.Case)
		}
		byCase[t.Case] = append(byCase[t.Case], t)
	}
	for _, m := range metrics {
		fmt.Fprintf(b, "  # assert: %s within %s of reference.%s\n", m, share(widest[m]), m)
	}
	fmt.Fprintf(b, "  %s:\n", scalar(run))
	for _, key := range cases {
		ts := byCase[key]
		var cells []string
		for _, axis := range ts[0].AxisOrder {
			cells = append(cells, scalar(axis)+": "+scalar(option.Text(ts[0].Axes[axis])))
		}
		for _, t := range ts {
			cells = append(cells, scalar(t.Metric)+": "+scalar(targetText(t)))
			fmt.Fprintf(b, "    # %s ±%s: %s\n", t.Metric, share(t.Tolerance), basis(t))
		}
		cells = append(cells, "noise: "+noiseCell(ts))
		fmt.Fprintf(b, "    - {%s}\n", strings.Join(cells, ", "))
	}
}

// noiseCell formats the noise of a row for the scenario language: one value for one metric, else one for
// each.
func noiseCell(ts []*results.Target) string {
	if len(ts) == 1 {
		return noiseOf(ts[0])
	}
	var cells []string
	for _, t := range ts {
		cells = append(cells, scalar(t.Metric)+": "+noiseOf(t))
	}
	return "{" + strings.Join(cells, ", ") + "}"
}

func noiseOf(t *results.Target) string {
	var parts, freedom []string
	for _, n := range t.Noise {
		name := map[string]string{"launches": "launch", "sessions": "session"}[n.Of]
		if name == "" {
			continue
		}
		parts = append(parts, name+": "+significantText(n.CV*100)+"%")
		if n.DF > 0 {
			freedom = append(freedom, name+"_df: "+significantText(n.DF))
		}
	}
	return "{" + strings.Join(append(parts, freedom...), ", ") + "}"
}

// basis says what a proposal is based on: "launches 1.1%, sessions 0.4%; 30 launches of 5 sessions, judged
// after 12".
func basis(t *results.Target) string {
	var parts []string
	for _, n := range t.Noise {
		parts = append(parts, n.Of+" "+cvText(n.CV))
	}
	return fmt.Sprintf("%s; %s of %s, judged after %d", strings.Join(parts, ", "),
		fmt.Sprintf("%d launches", t.Launches), plural(t.Sessions, "session"), t.Look)
}

func share(v float64) string { return results.Percent.WithUnit(results.Percent.Exact(v)) }

// targetText formats a target with five digits in a readable unit.
func targetText(t *results.Target) string {
	s := results.ScaleFor(t.Value, t.Unit)
	return s.WithUnit(significantText(t.Value * s.Factor))
}

func calibratedText(s results.Calibrated) string {
	started := "at no known time"
	if !s.Started.IsZero() {
		started = s.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	return sentence(", ", plain(s.File), "session "+plain(s.Session), started, "weir "+plain(s.Weir), plain(s.Digest))
}

// period is the time range of the sessions.
func period(c *results.Calibration) string {
	text := "calibrated from " + plural(len(c.Sessions), "session")
	first, last := c.Sessions[0].Started, c.Sessions[len(c.Sessions)-1].Started
	if first.IsZero() {
		return text
	}
	from, to := first.UTC().Format("2006-01-02"), last.UTC().Format("2006-01-02")
	if from == to {
		return text + " of " + from
	}
	return text + " from " + from + " to " + to
}

// bare matches words that are unambiguous texts in YAML.
var bare = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$`)

// scalar quotes a text for the scenario language, where ${ and %{ begin an expression. JSON's escapes are
// valid in YAML.
func scalar(s string) string {
	s = strings.NewReplacer("${", "$${", "%{", "%%{").Replace(s)
	if bare.MatchString(s) && !slices.Contains([]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"},
		s) {
		return s
	}
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a text
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(b))
}

// CalibrationText writes a calibration for a terminal: proposals with their noise, then what is not
// proposed and why.
func CalibrationText(w io.Writer, c *results.Calibration) error {
	var b strings.Builder
	if c.Simulated {
		b.WriteString(followsModel + "\n\n")
	}
	for _, s := range c.Sessions {
		b.WriteString(calibratedText(s) + "\n")
	}
	head := []string{
		"case", "metric", "target", "launch\nnoise", "session\nnoise", "node\nnoise", "launches", "judged\nafter",
		"tolerance",
	}
	right := []bool{false, false, true, true, true, true, true, true, true}
	var rows [][]string
	proposed, noisy, unusable := 0, 0, 0
	for _, t := range c.Targets {
		switch {
		case t.Unusable:
			unusable++
		case t.Refused != "":
			noisy++
		default:
			proposed++
		}
		row := []string{plain(t.Case), t.Metric, "-", "-", "-", "-", "-", "-", "refused"}
		if t.Look > 0 {
			row[2] = targetText(t)
			for _, n := range t.Noise {
				row[3+slices.Index([]string{"launches", "sessions", "nodes"}, n.Of)] = cvText(n.CV)
			}
			row[6], row[7] = fmt.Sprintf("%d in %d", t.Launches, t.Sessions), strconv.Itoa(t.Look)
			if t.Refused == "" {
				row[8] = "±" + share(t.Tolerance)
			}
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(&b, "\n%s\n\n", ruled(head, right, rows))
	for _, t := range c.Targets {
		if t.Refused != "" {
			fmt.Fprintf(&b, "refused  %s  %s\n    %s\n", plain(t.Case), t.Metric, plain(t.Refused))
		}
	}
	fmt.Fprintf(&b, "  noise: the standard deviation between launches of a session, between sessions (of fewer than five: of their means) and between nodes\n")
	fmt.Fprintf(&b, "  tolerance: a new session of the same path passes with it after the given number of launches, with a confidence of %s\n",
		results.PercentText(c.Confidence))
	if len(c.Sessions) == 1 {
		fmt.Fprintf(&b, "  %s\n", singleSession)
	}
	fmt.Fprintf(&b, "\n%d proposed, %d refused, %d unusable; exit code %d\n", proposed, noisy, unusable, c.ExitCode)
	_, err := io.WriteString(w, b.String())
	return err
}

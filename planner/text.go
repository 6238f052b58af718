// Plans as text: header, runs, launch groups and cost.

package planner

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
)

// Text writes the plan for people: the order of execution, the assertions with their bounds, and
// the cost.
func (p *Plan) Text(w io.Writer) error {
	var b strings.Builder
	p.textHeader(&b)
	for _, stage := range p.stages() {
		if stage.name != "" {
			fmt.Fprintf(&b, "\nstage %s\n", stage.name)
		}
		for _, run := range stage.runs {
			p.textRun(&b, run)
		}
	}
	p.textClaims(&b)
	p.textGroups(&b)
	p.textCost(&b)
	_, err := io.WriteString(w, printableText(b.String()))
	return err
}

// printableText removes everything but line ends that acts on a terminal.
func printableText(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = printable.Line(l)
	}
	return strings.Join(lines, "\n")
}

func (p *Plan) textHeader(b *strings.Builder) {
	t := columns(b)
	textRow(t, "scenario", p.Scenario.Name)
	if p.Scenario.Description != "" {
		textRow(t, "", strings.ReplaceAll(strings.TrimSpace(p.Scenario.Description), "\n", " "))
	}
	textRow(t, "file", p.Scenario.File)
	textRow(t, "digest", p.Digest)
	for _, name := range slices.Sorted(maps.Keys(p.Scenario.Variables)) {
		value := strings.TrimSpace(p.Scenario.Variables[name])
		textRow(t, "variable", name+" = "+strings.ReplaceAll(value, "\n", "\n\t"))
	}
	textRow(t, "cluster", p.Cluster.String())
	for _, c := range p.Checks {
		textRow(t, "check", c.text())
	}
	for _, a := range p.Artifacts {
		textRow(t, "artifact", a.text())
	}
	textCommands(t, "setup", p.Setup)
	textCommands(t, "teardown", p.Teardown)
	if p.Baseline != "" {
		missing := ""
		if p.BaselineMissing != "" {
			missing = " (missing values are skipped)"
		}
		textRow(t, "baseline", p.Baseline+missing)
	}
	if text := policyText(p.Inconclusive); text != "" {
		textRow(t, "inconclusive", text)
	}
	t.Flush()
}

// textRun writes a run's common options once and a row for each case.
func (p *Plan) textRun(b *strings.Builder, run string) {
	var cases []*Case
	for _, c := range p.Cases {
		if c.Run == run {
			cases = append(cases, c)
		}
	}
	first := cases[0]
	common, varying := splitOptions(cases)
	fmt.Fprintf(b, "\nrun %s: workload %s, %s\n", run, first.Workload, plural(len(cases)+p.omitted[run], "case"))
	t := columns(b)
	p.run(run).text(t)
	if place := p.Cluster.placeText(cases); place != "" {
		textRow(t, "  place", place)
	}
	names, shared := columnsOf(cases, append(slices.Clone(first.AxisOrder), varying...))
	rowOfWords(t, "  options", common)
	if len(shared) > 0 {
		textRow(t, "  alike", strings.Join(shared, " "))
	}
	textStructures(t, cases)
	p.textValues(t, cases)
	p.textPlaying(t, run, cases)
	for _, moves := range amounts(cases) {
		textRow(t, "  moves", moves)
	}
	textEnv(t, cases)
	for _, name := range slices.Sorted(maps.Keys(first.Secrets)) {
		textRow(t, "  secret", name+" from "+first.Secrets[name])
	}
	if first.When != "" {
		textRow(t, "  when", first.When)
	}
	textRow(t, "  timeout", quantity.ShortSeconds(first.Timeout)+" for each launch of a case")
	most := p.mostLaunches(run)
	alike := p.alikeAsserted(cases, most)
	head := "  all cases"
	if p.omitted[run] > 0 {
		head = "  cases below"
	}
	for _, l := range slices.Concat(alike...) {
		textRow(t, head, l)
		head = ""
	}
	t.Flush()
	b.WriteByte('\n')
	t = columns(b)
	if len(names) == 0 {
		names = []string{"case"}
	}
	textRow(t, append([]string{"  " + names[0]}, append(names[1:], "asserted")...)...)
	for _, c := range cases {
		p.textRows(t, c, names, most, alike)
	}
	t.Flush()
	if n := p.omitted[run]; n > 0 {
		fmt.Fprintf(b, "  … and %s more; -o json writes all\n", plural(n, "case"))
	}
	p.textMultiCase(b, run)
}

// roundedTime rounds a duration to the second, or finer below ten.
func roundedTime(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return quantity.ShortSeconds(d.Round(time.Second).Seconds())
}

// mostLaunches returns the largest number of launches of a run's cases.
func (p *Plan) mostLaunches(run string) (most int) {
	for _, g := range p.Groups {
		if g.Run == run && len(g.Looks) > 0 {
			most = max(most, g.Looks[len(g.Looks)-1])
		}
	}
	return most
}

// textRows writes a case: its values, and an assertion on each line, less those that all cases have. launches is the
// maximum number of launches.
func (p *Plan) textRows(t io.Writer, c *Case, names []string, launches int, alike [][]string) {
	var cells []string
	for _, n := range names {
		axis, isAxis := c.Axes[n]
		opt, isOption := c.Options[n]
		switch {
		case isAxis && isOption && option.Text(opt) != option.Text(axis):
			cells = append(cells, c.show(n, opt)+" (its own)") // of a pattern
		case isAxis:
			cells = append(cells, option.Text(axis)) // as in keys
		case isOption:
			cells = append(cells, c.show(n, opt))
		case n == "case":
			cells = append(cells, c.Key)
		default:
			cells = append(cells, "–") // the case lacks this option
		}
	}
	cells[0] = "  " + cells[0]
	lines := []string{"–"}
	if c.Status != Planned {
		lines = []string{c.Status + ": " + c.Reason}
	} else if own := less(p.asserted(c, launches), alike); len(own) > 0 {
		lines = slices.Concat(own...)
	} else if len(alike) > 0 {
		lines = []string{"as above"}
	}
	blank := make([]string, len(cells))
	for _, l := range lines {
		textRow(t, append(cells, l)...)
		cells = blank
	}
}

// longTime is the length of a formatted time above which it is rounded.
const longTime = 8

// show formats the value of an option for people.
func (c *Case) show(name string, v any) string {
	if k, ok := workload.Lookup(c.Workload); ok {
		if o, ok := k.Option(name); ok {
			if long, isTime := v.(quantity.Time); isTime && len(long.String()) > longTime {
				return quantity.ShortTime(long)
			}
			return o.Show(v)
		}
	}
	return option.Text(v)
}

// run returns the shared settings of a run.
func (p *Plan) run(name string) *Run {
	for _, r := range p.Runs {
		if r.Name == name {
			return r
		}
	}
	return nil
}

func (p *Plan) textGroups(b *strings.Builder) {
	b.WriteString("\nlaunches\n")
	t := columns(b)
	textRow(t, "  group", "cases", "ranks", "looks after launches", "waits for")
	outcomes := p.outcomes()
	ranges, _ := p.launches()
	for i, g := range p.Groups {
		var looks []string
		for _, l := range g.Looks {
			if p.omitted != nil || float64(l) <= ranges[i].Max { // what asserts nothing ends at its first look
				looks = append(looks, fmt.Sprint(l))
			}
		}
		when, after := strings.Join(looks, ", "), "–"
		if len(g.Needs) > 0 {
			after = strings.Join(outcomes.named(g), ", ")
		}
		if len(g.During) > 0 { // it has one launch for each of theirs
			when, after = "–", "runs during each launch of "+strings.Join(g.During, ", ")
		}
		textRow(t, "  "+g.ID, fmt.Sprint(len(g.Cases)+g.omitted), fmt.Sprint(g.Ranks), when, after)
	}
	t.Flush()
	if p.omittedGroups > 0 {
		fmt.Fprintf(b, "  … and %s more\n", plural(p.omittedGroups, "group"))
	}
	p.textTurns(b)
}

func (p *Plan) textCost(b *strings.Builder) {
	l := p.Cost.Launches
	least := fmt.Sprintf("%g launches", l.Min)
	if l.Min == 1 {
		least = "1 launch"
	}
	fmt.Fprintf(b, "\ncost  %s at least, about %g expected, %g at most\n", least,
		math.Round(10*l.Expected)/10, l.Max)
	switch s := p.Cost.Seconds; {
	case s != nil:
		fmt.Fprintf(b, "time  %s at least, about %s expected, %s at most, from earlier sessions\n",
			roundedTime(s.Min), roundedTime(s.Expected), roundedTime(s.Max))
	case p.omitted == nil:
		if least := p.leastTime(); least.Min > 0 {
			fmt.Fprintf(b, "time  %s at least, about %s expected, by the durations and schedules of the cases alone\n",
				roundedTime(least.Min), roundedTime(least.Expected))
		}
	}
}

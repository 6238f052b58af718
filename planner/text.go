package planner

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"weir/dsl"
	"weir/quantity"
	"weir/workload"
)

// Text writes the plan for a person: what will run in which order, what is
// asserted of it with the numbers that decide, and what it will cost.
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
	p.textGroups(&b)
	p.textCost(&b)
	_, err := io.WriteString(w, harmless(b.String()))
	return err
}

// harmless is text of which nothing but the ends of lines acts on a terminal.
func harmless(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = dsl.Printable(l)
	}
	return strings.Join(lines, "\n")
}

func (p *Plan) textHeader(b *strings.Builder) {
	t := columns(b)
	row(t, "scenario", p.Scenario.Name)
	if p.Scenario.Description != "" {
		row(t, "", strings.ReplaceAll(strings.TrimSpace(p.Scenario.Description), "\n", " "))
	}
	row(t, "file", p.Scenario.File)
	row(t, "digest", p.Digest)
	for _, name := range slices.Sorted(maps.Keys(p.Scenario.Variables)) {
		row(t, "variable", name+" = "+p.Scenario.Variables[name])
	}
	row(t, "cluster", p.Cluster.String())
	for _, c := range p.Checks {
		row(t, "check", c.text())
	}
	for _, a := range p.Artifacts {
		row(t, "artifact", a.text())
	}
	textCommands(t, "setup", p.Setup)
	textCommands(t, "teardown", p.Teardown)
	if p.Baseline != "" {
		missing := ""
		if p.BaselineMissing != "" {
			missing = " (what it lacks is skipped)"
		}
		row(t, "baseline", p.Baseline+missing)
	}
	if text := policyText(p.Inconclusive); text != "" {
		row(t, "inconclusive", text)
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
		row(t, "  place", place)
	}
	names, alike := columnsOf(cases, append(slices.Clone(first.AxisOrder), varying...))
	rowOfWords(t, "  options", common)
	if len(alike) > 0 {
		row(t, "  alike", strings.Join(alike, " "))
	}
	textStructures(t, cases)
	p.textValues(t, cases)
	p.textPlaying(t, run, cases)
	for _, moves := range amounts(cases) {
		row(t, "  moves", moves)
	}
	textEnv(t, cases)
	for _, name := range slices.Sorted(maps.Keys(first.Secrets)) {
		row(t, "  secret", name+" from "+first.Secrets[name])
	}
	if first.When != "" {
		row(t, "  when", first.When)
	}
	row(t, "  timeout", quantity.ShortSeconds(first.Timeout)+" for each launch of a case")
	t.Flush()
	b.WriteByte('\n')
	t = columns(b)
	if len(names) == 0 {
		names = []string{"case"}
	}
	row(t, append([]string{"  " + names[0]}, append(names[1:], "asserted")...)...)
	most := p.mostLaunches(cases)
	for _, c := range cases {
		p.textRows(t, c, names, most)
	}
	t.Flush()
	if n := p.omitted[run]; n > 0 {
		fmt.Fprintf(b, "  … and %s more; -o json writes all of them\n", plural(n, "case"))
	}
	p.textSpanning(b, cases)
}

// roughTime is a duration to the second, or finer below ten.
func roughTime(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return quantity.ShortSeconds(d.Round(time.Second).Seconds())
}

// mostLaunches is how many launches cases of a run have at most.
func (p *Plan) mostLaunches(cases []*Case) (most int) {
	keys := map[string]bool{}
	for _, c := range cases {
		keys[c.Key] = true
	}
	for _, g := range p.Groups {
		if len(g.Looks) > 0 && slices.ContainsFunc(g.Cases, func(key string) bool { return keys[key] }) {
			most = max(most, g.Looks[len(g.Looks)-1])
		}
	}
	return most
}

// textRows writes a case of so many launches at most: its values, and an assertion on each line.
func (p *Plan) textRows(t io.Writer, c *Case, names []string, launches int) {
	var cells []string
	for _, n := range names {
		axis, isAxis := c.Axes[n]
		option, isOption := c.Options[n]
		switch {
		case isAxis && isOption && workload.Text(option) != workload.Text(axis):
			cells = append(cells, c.show(n, option)+" (its own)") // of a pattern
		case isAxis:
			cells = append(cells, workload.Text(axis)) // as keys have it
		case isOption:
			cells = append(cells, c.show(n, option))
		case n == "case":
			cells = append(cells, c.Key)
		default:
			cells = append(cells, "–") // an option that this case has not
		}
	}
	cells[0] = "  " + cells[0]
	lines := []string{"–"}
	if c.Status != Planned {
		lines = []string{c.Status + ": " + c.Reason}
	} else if len(c.Assertions) > 0 {
		lines = nil
		for _, a := range c.Assertions {
			lines = append(lines, textAssertion(a))
			for _, d := range p.undecidable(c, a, launches) {
				lines = append(lines, "  will be inconclusive: "+d.Why)
			}
		}
	}
	blank := make([]string, len(cells))
	for _, l := range lines {
		row(t, append(cells, l)...)
		cells = blank
	}
}

// longTime is the text of a time that is rounded for a person.
const longTime = 8

// show is the value of an option for a person.
func (c *Case) show(name string, v any) string {
	if k, ok := workload.Lookup(c.Workload); ok {
		if o, ok := k.Option(name); ok {
			if long, isTime := v.(quantity.Time); isTime && len(long.String()) > longTime {
				return quantity.ShortTime(long)
			}
			return o.Show(v)
		}
	}
	return workload.Text(v)
}

// run finds what the cases of a run have in common.
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
	row(t, "  group", "cases", "ranks", "the gate looks after", "waits for")
	outcomes := p.outcomes()
	for _, g := range p.Groups {
		looks := make([]string, len(g.Looks))
		for i, l := range g.Looks {
			looks[i] = fmt.Sprint(l)
		}
		when, after := strings.Join(looks, ", "), "–"
		if len(g.Needs) > 0 {
			after = strings.Join(outcomes.named(g), ", ")
		}
		if len(g.During) > 0 { // it has as many launches as those have
			when, after = "–", "runs during each launch of "+strings.Join(g.During, ", ")
		}
		row(t, "  "+g.ID, fmt.Sprint(len(g.Cases)+g.omitted), fmt.Sprint(g.Ranks), when, after)
	}
	t.Flush()
	if p.omittedGroups > 0 {
		fmt.Fprintf(b, "  … and %s more\n", plural(p.omittedGroups, "group"))
	}
	p.textTurns(b)
}

func (p *Plan) textCost(b *strings.Builder) {
	l := p.Cost.Launches
	fmt.Fprintf(b, "\ncost  %g launches at least, about %g expected, %g at most\n", l.Min, l.Expected, l.Max)
	if s := p.Cost.Seconds; s != nil {
		fmt.Fprintf(b, "time  %s at least, about %s expected, %s at most, from what its cases took before\n",
			roughTime(s.Min), roughTime(s.Expected), roughTime(s.Max))
	}
}

package planner

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"weir/workload"
)

// Text writes the plan for a person: what will run in which order, what is
// asserted of it with the numbers that decide, and what it will cost.
func (p *Plan) Text(w io.Writer) error {
	var b strings.Builder
	p.textHeader(&b)
	for _, run := range p.runs() {
		p.textRun(&b, run)
	}
	p.textGroups(&b)
	p.textCost(&b)
	_, err := io.WriteString(w, b.String())
	return err
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
		row(t, "check", c.Name+": "+strings.Join(c.Command, " "))
	}
	t.Flush()
}

// String says what a cluster must have.
func (c Cluster) String() string {
	s := plural(max(1, c.Nodes), "node")
	if c.DistinctHosts {
		s += " on distinct hosts"
	}
	if c.GPUsPerNode > 0 {
		s += fmt.Sprintf(", %s each", plural(c.GPUsPerNode, "GPU"))
	}
	return s
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
	fmt.Fprintf(b, "\nrun %s: workload %s, %s\n", run, first.Workload, plural(len(cases), "case"))
	t := columns(b)
	if len(common) > 0 {
		row(t, "  options", strings.Join(common, " "))
	}
	if env := commonEnv(cases); len(env) > 0 {
		row(t, "  env", strings.Join(env, " "))
	}
	if first.When != "" {
		row(t, "  when", first.When)
	}
	row(t, "  timeout", shortTime(first.Timeout)+" for each launch of a case")
	t.Flush()
	b.WriteByte('\n')
	t = columns(b)
	names := append(slices.Clone(first.AxisOrder), varying...)
	if len(names) == 0 {
		names = []string{"case"}
	}
	row(t, append([]string{"  " + names[0]}, append(names[1:], "asserted")...)...)
	for _, c := range cases {
		c.textRows(t, names)
	}
	t.Flush()
	p.textTrends(b, cases)
}

// shortTime is a duration without the zeros that Go appends: 5m, not 5m0s.
func shortTime(seconds float64) string {
	s := time.Duration(seconds * float64(time.Second)).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	return strings.Replace(s, "h0m", "h", 1)
}

// textRows writes a case: its values, and an assertion on each line.
func (c *Case) textRows(t io.Writer, names []string) {
	var cells []string
	for _, n := range names {
		v, ok := c.Axes[n]
		if !ok {
			v, ok = c.Options[n]
		}
		if !ok {
			v = c.Key
		}
		cells = append(cells, workload.Text(v))
	}
	cells[0] = "  " + cells[0]
	lines := []string{"–"}
	if c.Status != Planned {
		lines = []string{c.Status + ": " + c.Reason}
	} else if len(c.Assertions) > 0 {
		lines = nil
		for _, a := range c.Assertions {
			lines = append(lines, string(a.Severity)+" "+a.Lowered)
		}
	}
	blank := make([]string, len(cells))
	for _, l := range lines {
		row(t, append(cells, l)...)
		cells = blank
	}
}

// textTrends writes the assertions over several of a run's cases.
func (p *Plan) textTrends(b *strings.Builder, cases []*Case) {
	in := map[string]bool{}
	for _, c := range cases {
		in[c.Key] = true
	}
	for _, a := range p.Assertions {
		if len(a.Cases) > 0 && in[a.Cases[0]] {
			fmt.Fprintf(b, "  over %s, %s … %s: %s %s\n", plural(len(a.Cases), "case"), a.Cases[0], a.Cases[len(a.Cases)-1], a.Severity, a.Lowered)
		}
	}
}

func (p *Plan) textGroups(b *strings.Builder) {
	b.WriteString("\nlaunches\n")
	t := columns(b)
	row(t, "  group", "cases", "ranks", "the gate looks after", "waits for")
	for _, g := range p.Groups {
		looks := make([]string, len(g.Looks))
		for i, l := range g.Looks {
			looks[i] = fmt.Sprint(l)
		}
		after := "–"
		if len(g.Needs) > 0 {
			after = strings.Join(g.Needs, ", ")
		}
		row(t, "  "+g.ID, fmt.Sprint(len(g.Cases)), fmt.Sprint(g.Ranks), strings.Join(looks, ", "), after)
	}
	t.Flush()
}

func (p *Plan) textCost(b *strings.Builder) {
	l := p.Cost.Launches
	fmt.Fprintf(b, "\ncost  %g launches at least, about %g expected, %g at most\n", l.Min, l.Expected, l.Max)
}

// splitOptions divides options into those that all cases share, as name=value,
// and the names of those that differ and are no axis.
func splitOptions(cases []*Case) (common, varying []string) {
	first := cases[0]
	for _, name := range slices.Sorted(maps.Keys(first.Options)) {
		if slices.Contains(first.AxisOrder, name) {
			continue
		}
		text := workload.Text(first.Options[name])
		if slices.ContainsFunc(cases, func(c *Case) bool { return workload.Text(c.Options[name]) != text }) {
			varying = append(varying, name)
			continue
		}
		common = append(common, name+"="+text)
	}
	return common, varying
}

func commonEnv(cases []*Case) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(cases[0].Env)) {
		v := cases[0].Env[name]
		if !slices.ContainsFunc(cases, func(c *Case) bool { return c.Env[name] != v }) {
			out = append(out, name+"="+v)
		}
	}
	return out
}

func columns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

func row(w io.Writer, cells ...string) {
	fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "\t"), " "))
}

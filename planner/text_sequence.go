package planner

import (
	"io"
	"strings"

	"weir/workload"
)

// together is what the cases of a launch do together, for a person; "" where each is
// measured for itself.
func together(kind *workload.Kind, cases []workload.Values) string {
	if kind == nil || kind.Together == nil || len(cases) == 0 {
		return ""
	}
	return kind.Together(cases)
}

// textPlaying says what a run's launches play, once where they play alike.
func (p *Plan) textPlaying(t io.Writer, run string, cases []*Case) {
	byKey := map[string]*Case{}
	for _, c := range cases {
		byKey[c.Key] = c
	}
	var order []string
	launches := map[string][]string{}
	for _, g := range p.Groups {
		if g.Run != run {
			continue
		}
		text := g.together
		if text == "" {
			kind, _ := workload.Lookup(cases[0].Workload)
			var all []workload.Values
			for _, key := range g.Cases {
				if c := byKey[key]; c != nil {
					all = append(all, c.Options)
				}
			}
			text = together(kind, all)
		}
		if text == "" {
			continue
		}
		if launches[text] == nil {
			order = append(order, text)
		}
		launches[text] = append(launches[text], g.ID)
	}
	for _, text := range order {
		which := ""
		if len(order) > 1 {
			which = " (" + textSpan(launches[text], "launch group") + ")"
		}
		row(t, "  plays", text+which)
	}
}

// said says of an option of a sequence that a person has it already, or nothing of it:
// its digest, and metadata whose fields are axes.
func said(kind *workload.Kind, name string, cases []*Case) bool {
	o, _ := kind.Option(name)
	return o.Type == workload.Patterns || kind.Sequence != "" && name == "metadata" && inColumns(cases)
}

// columnsOf are the columns of a run's cases. What is alike in all patterns of a sequence
// is given apart, as name=value.
func columnsOf(cases []*Case, names []string) (columns, alike []string) {
	if k, ok := workload.Lookup(cases[0].Workload); !ok || k.Sequence == "" {
		return names, nil
	}
	for _, n := range names {
		value, isAxis := cases[0].Axes[n]
		_, isOption := cases[0].Options[n]
		if isAxis && !isOption && len(cases) > 1 && constant(cases, n) {
			alike = append(alike, n+"="+textWord(workload.Text(value)))
		} else {
			columns = append(columns, n)
		}
	}
	return columns, alike
}

func constant(cases []*Case, axis string) bool {
	first := workload.Text(cases[0].Axes[axis])
	for _, c := range cases {
		if workload.Text(c.Axes[axis]) != first {
			return false
		}
	}
	return true
}

// inColumns says whether axes have every field of all metadata.
func inColumns(cases []*Case) bool {
	for _, c := range cases {
		said, _ := c.Options["metadata"].(string) // an excluded case has none
		left := " " + said + " "
		for name, v := range c.Axes {
			left = strings.Replace(left, " "+name+"="+workload.Text(v)+" ", " ", 1)
		}
		if strings.TrimSpace(left) != "" {
			return false
		}
	}
	return true
}

// Plans as text: sequences.

package planner

import (
	"io"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/workload"
)

// jointWork describes what the cases of a launch do together; "" if each is measured by itself.
func jointWork(kind *workload.Kind, cases []option.Values) string {
	if kind == nil || len(cases) == 0 {
		return ""
	}
	if b, ok := kind.Behaviour.(workload.Scheduler); ok {
		return b.Together(cases)
	}
	return ""
}

// textPlaying describes what a run's launches do, once if they are equal.
func (p *Plan) textPlaying(t io.Writer, run string, cases []*Case) {
	var launches ordered.Groups[string, string]
	for _, g := range p.Groups {
		if g.Run != run {
			continue
		}
		text := g.together
		if text == "" {
			kind, _ := workload.Lookup(cases[0].Workload)
			var all []option.Values
			for _, key := range g.Cases {
				if c := p.keyed()[key]; c != nil {
					all = append(all, c.Options)
				}
			}
			text = jointWork(kind, all)
		}
		if text != "" {
			launches.Add(text, g.ID)
		}
	}
	for text, groups := range launches.All() {
		which := ""
		if len(launches.Keys()) > 1 {
			which = " (" + textSpan(groups, "launch group") + ")"
		}
		textRow(t, "  plays", text+which)
	}
}

// shownOtherwise reports whether the text of a plan shows an option of a sequence in another form:
// the digest of its patterns, or metadata with its fields as axes.
func shownOtherwise(kind *workload.Kind, name string, cases []*Case) bool {
	o, _ := kind.Option(name)
	return o.Type == option.Patterns || kind.Sequence != "" && name == "metadata" && inColumns(cases)
}

// columnsOf returns the columns of a run's cases, and separately, as name=value, what is equal in
// all patterns of a sequence.
func columnsOf(cases []*Case, names []string) (columns, shared []string) {
	if k, ok := workload.Lookup(cases[0].Workload); !ok || k.Sequence == "" {
		return names, nil
	}
	for _, n := range names {
		value, isAxis := cases[0].Axes[n]
		_, isOption := cases[0].Options[n]
		if isAxis && !isOption && len(cases) > 1 &&
			allEqual(cases, func(c *Case) string { return option.Text(c.Axes[n]) }) {
			shared = append(shared, n+"="+textWord(option.Text(value)))
		} else {
			columns = append(columns, n)
		}
	}
	return columns, shared
}

// allEqual reports whether a text is equal in all cases.
func allEqual(cases []*Case, textOf func(*Case) string) bool {
	first := textOf(cases[0])
	return !slices.ContainsFunc(cases, func(c *Case) bool { return textOf(c) != first })
}

// inColumns reports whether axes have every field of all metadata.
func inColumns(cases []*Case) bool {
	for _, c := range cases {
		metadata, _ := c.Options["metadata"].(string) // an excluded case has none
		left := " " + metadata + " "
		for name, v := range c.Axes {
			left = strings.Replace(left, " "+name+"="+option.Text(v)+" ", " ", 1)
		}
		if strings.TrimSpace(left) != "" {
			return false
		}
	}
	return true
}

// The graph of launch groups for Graphviz and Mermaid.

package planner

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Dot writes the graph of launch groups in the language of Graphviz. Edges are labelled with
// outcomes other than success.
func (p *Plan) Dot(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  rankdir=LR;\n  node [shape=box];\n", strconv.Quote(p.Scenario.Name))
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "  %s [label=%s];\n", strconv.Quote(g.ID), strconv.Quote(g.ID+"\n"+g.summary()))
	}
	p.edges(func(from, to, on string) {
		if on != "" {
			on = " [label=" + strconv.Quote(on) + "]"
		}
		fmt.Fprintf(&b, "  %s -> %s%s;\n", strconv.Quote(from), strconv.Quote(to), on)
	}, func(load, front string) {
		fmt.Fprintf(&b, "  %s -> %s [style=dashed, dir=none, label=\"load\"];\n", strconv.Quote(load),
			strconv.Quote(front))
	})
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Mermaid writes the graph of launch groups as a Mermaid flowchart.
func (p *Plan) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	node := map[string]string{} // ids may contain characters of Mermaid's syntax
	for i, g := range p.Groups {
		node[g.ID] = fmt.Sprintf("g%d", i)
		fmt.Fprintf(&b, "  %s[\"%s<br/>%s\"]\n", node[g.ID], strings.ReplaceAll(g.ID, `"`, "#quot;"), g.summary())
	}
	p.edges(func(from, to, on string) {
		if on != "" {
			on = "|" + on + "|"
		}
		fmt.Fprintf(&b, "  %s -->%s %s\n", node[from], on, node[to])
	}, func(load, front string) { fmt.Fprintf(&b, "  %s -.-|load| %s\n", node[load], node[front]) })
	_, err := io.WriteString(w, b.String())
	return err
}

// edges passes the needs of each launch group with their outcome, and the groups of background
// load.
func (p *Plan) edges(need func(from, to, on string), load func(load, front string)) {
	outcomes := p.outcomes()
	for _, g := range p.Groups {
		for _, n := range g.Needs {
			need(n, g.ID, outcomes.of(g, n))
		}
		for _, front := range g.During {
			load(g.ID, front)
		}
	}
}

func (g *LaunchGroup) summary() string {
	return fmt.Sprintf("%s, %s", plural(len(g.Cases)+g.omitted, "case"), plural(g.Ranks, "rank"))
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

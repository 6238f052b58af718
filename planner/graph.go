package planner

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Dot writes the graph of launch groups in the language of Graphviz. An edge has
// the outcome that it waits for if that is not success.
func (p *Plan) Dot(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "digraph %s {\n  rankdir=LR;\n  node [shape=box];\n", strconv.Quote(p.Scenario.Name))
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "  %s [label=%s];\n", strconv.Quote(g.ID), strconv.Quote(g.ID+"\n"+g.summary()))
	}
	outcomes := p.outcomes()
	for _, g := range p.Groups {
		for _, n := range g.Needs {
			label := ""
			if on := outcomes.of(g, n); on != "" {
				label = " [label=" + strconv.Quote(on) + "]"
			}
			fmt.Fprintf(&b, "  %s -> %s%s;\n", strconv.Quote(n), strconv.Quote(g.ID), label)
		}
		for _, f := range g.During {
			fmt.Fprintf(&b, "  %s -> %s [style=dashed, dir=none, label=\"load\"];\n", strconv.Quote(g.ID),
				strconv.Quote(f))
		}
	}
	b.WriteString("}\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Mermaid writes the graph of launch groups as a Mermaid flowchart.
func (p *Plan) Mermaid(w io.Writer) error {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	node := map[string]string{} // ids may hold characters that Mermaid reads as syntax
	for i, g := range p.Groups {
		node[g.ID] = fmt.Sprintf("g%d", i)
		fmt.Fprintf(&b, "  %s[\"%s<br/>%s\"]\n", node[g.ID], strings.ReplaceAll(g.ID, `"`, "#quot;"), g.summary())
	}
	outcomes := p.outcomes()
	for _, g := range p.Groups {
		for _, n := range g.Needs {
			label := ""
			if on := outcomes.of(g, n); on != "" {
				label = "|" + on + "|"
			}
			fmt.Fprintf(&b, "  %s -->%s %s\n", node[n], label, node[g.ID])
		}
		for _, f := range g.During {
			fmt.Fprintf(&b, "  %s -.-|load| %s\n", node[g.ID], node[f])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
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

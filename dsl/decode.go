package dsl

import (
	"fmt"
	"math"
	"regexp"
	"time"

	"github.com/hashicorp/hcl/v2"

	"weir/dsl/suggest"
	"weir/workload"
)

var (
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	plainName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
)

// defaults are what runs have unless they say otherwise.
type defaults struct {
	launches []int
	timeout  time.Duration
	env      []entry
	options  map[string][]entry // by workload
}

func (l *loader) rootBlocks(body hcl.Body) hcl.Blocks {
	content, _, _ := body.PartialContent(schema{labelled: []string{"scenario"}}.hcl())
	return content.Blocks
}

// scenario decodes the whole file.
func (l *loader) scenario(body hcl.Body, given map[string]string) *Scenario {
	s := &Scenario{File: l.file}
	root := l.content(body, schema{labelled: []string{"scenario"}}, "the file")
	if len(root.Blocks) == 0 {
		if !l.diags.HasErrors() {
			l.error(root.MissingItemRange, "Missing scenario", "The file has no scenario.", `Begin it with scenario "NAME" { … }.`)
		}
		return s
	}
	for _, b := range root.Blocks[1:] {
		l.places.add(b.DefRange, "scenario "+b.Labels[0])
		l.error(b.DefRange, "Second scenario", "A file holds one scenario.", "Write each scenario into its own file.")
	}
	top := root.Blocks[0]
	s.Name = top.Labels[0]
	l.checkName(s.Name, top.LabelRanges[0])
	content := l.content(top.Body, schema{
		attributes: []string{"description"},
		sections:   []string{"cluster", "defaults"},
		labelled:   []string{"variable", "check", "run"},
	}, "a scenario")
	for _, a := range content.Attributes {
		l.places.add(a.NameRange, a.Name)
	}
	for _, b := range content.Blocks {
		if len(b.Labels) == 0 {
			l.places.add(b.DefRange, b.Type)
		}
	}
	s.Variables = l.variables(content, given)
	if a, ok := content.Attributes["description"]; ok {
		s.Description, _ = l.text(a.Expr, "description")
	}
	s.Cluster = l.cluster(content)
	d := l.defaults(content)
	names := map[string]bool{}
	for _, b := range content.Blocks {
		switch b.Type {
		case "check":
			c := l.check(b)
			for _, other := range s.Checks {
				if other.Name == c.Name {
					l.error(c.Range, "Duplicate check", fmt.Sprintf("Check %q was already given.", c.Name), "Rename one of the two.")
				}
			}
			s.Checks = append(s.Checks, c)
		case "run":
			if names[b.Labels[0]] {
				l.error(b.LabelRanges[0], "Duplicate run", fmt.Sprintf("Run %q was already given.", b.Labels[0]), "Rename one of the two.")
			}
			names[b.Labels[0]] = true
			s.Runs = append(s.Runs, l.run(b, d))
		}
	}
	if len(s.Runs) == 0 && !l.diags.HasErrors() {
		l.error(top.LabelRanges[0], "No runs", "The scenario has nothing to run.", "Add a run with a workload.")
	}
	l.needs(s.Runs)
	return s
}

func (l *loader) checkName(name string, at hcl.Range) {
	if !plainName.MatchString(name) || len(name) > 100 {
		l.error(at, "Invalid name", fmt.Sprintf("%q becomes part of keys and file names.", name), "Use letters, digits, _ . and -, at most 100 of them.")
	}
}

// sectionContent is the content of a section with fixed keys, whichever way it
// is written; nil if it is absent.
func (l *loader) sectionContent(content *hcl.BodyContent, name string, s schema) *hcl.BodyContent {
	for _, b := range content.Blocks {
		if b.Type == name && len(b.Labels) == 0 {
			return l.content(b.Body, s, quote(name))
		}
	}
	a, ok := content.Attributes[name]
	if !ok {
		return nil
	}
	out := &hcl.BodyContent{Attributes: hcl.Attributes{}, MissingItemRange: a.NameRange}
	known := l.known(s)
	for _, e := range l.mapping(a.Expr, name) {
		found := false
		for _, k := range known {
			found = found || k == e.name
		}
		if !found {
			l.error(e.at, "Unknown key", fmt.Sprintf("There is no %q in %q.", e.name, name), suggest.Sentence(e.name, known, "keys"))
			continue
		}
		out.Attributes[e.name] = &hcl.Attribute{Name: e.name, NameRange: e.at, Range: hcl.RangeBetween(e.at, e.expr.Range()), Expr: e.expr}
	}
	return out
}

func (l *loader) cluster(content *hcl.BodyContent) Cluster {
	c := Cluster{Nodes: 1}
	inner := l.sectionContent(content, "cluster", schema{attributes: []string{"nodes", "distinct_hosts", "gpus_per_node"}})
	if inner == nil {
		return c
	}
	if a, ok := inner.Attributes["nodes"]; ok {
		c.Nodes = l.count(a.Expr, "nodes", 1, 100_000)
	}
	if a, ok := inner.Attributes["distinct_hosts"]; ok {
		c.DistinctHosts = l.flag(a.Expr, "distinct_hosts")
	}
	if a, ok := inner.Attributes["gpus_per_node"]; ok {
		c.GPUsPerNode = l.count(a.Expr, "gpus_per_node", 0, 1024)
	}
	return c
}

func (l *loader) defaults(content *hcl.BodyContent) defaults {
	d := defaults{launches: []int{3, 5, 8, 12}, timeout: 5 * time.Minute, options: map[string][]entry{}}
	inner := l.sectionContent(content, "defaults", schema{attributes: []string{"launches", "timeout"}, sections: []string{"env", "options"}})
	if inner == nil {
		return d
	}
	if a, ok := inner.Attributes["launches"]; ok {
		d.launches = l.launches(a.Expr)
	}
	if a, ok := inner.Attributes["timeout"]; ok {
		d.timeout = l.duration(a.Expr, "timeout")
	}
	d.env = l.section(inner, "env")
	byWorkload := l.sectionContent(inner, "options", schema{sections: workload.Names()})
	for _, name := range workload.Names() {
		if byWorkload == nil {
			break
		}
		d.options[name] = l.section(byWorkload, name)
		kind, _ := workload.Lookup(name)
		for _, e := range d.options[name] {
			if _, ok := kind.Option(e.name); !ok {
				l.unknownOption(kind, e)
			}
		}
	}
	return d
}

func (l *loader) unknownOption(kind *workload.Kind, e entry) {
	l.error(e.at, "Unknown option", fmt.Sprintf("Workload %s has no option %q.", kind.Name, e.name), suggest.Sentence(e.name, optionNames(kind), "options"))
}

func (l *loader) check(b *hcl.Block) *Check {
	c := &Check{Name: b.Labels[0], Range: b.LabelRanges[0]}
	l.places.add(b.DefRange, "check "+c.Name)
	content := l.content(b.Body, schema{attributes: []string{"on", "command"}}, "a check")
	if a, ok := content.Attributes["on"]; ok {
		if on, ok := l.text(a.Expr, "on"); ok && on != "every node" {
			l.error(a.Expr.Range(), "Invalid value", fmt.Sprintf("A check runs on every node, not on %q.", on), "Write `every node`, or leave it out.")
		}
	}
	a, ok := content.Attributes["command"]
	if !ok {
		l.error(c.Range, "Missing command", fmt.Sprintf("Check %q has nothing to run.", c.Name), "Add command: the program and its arguments as a list.")
		return c
	}
	items, ok, whole := l.list(a.Expr, "command")
	if !ok {
		l.error(a.Expr.Range(), "Not a list", "A command is a list of the program and its arguments; no shell reads it.", "Write [fi_info, -p, efa].")
		return c
	}
	for _, i := range items {
		c.Command = append(c.Command, i.text)
	}
	if len(c.Command) == 0 && whole {
		l.error(a.Expr.Range(), "Missing command", "The list is empty.", "Name a program.")
	}
	return c
}

// launches reads the looks of the sequential gate; a plain number is one look.
func (l *loader) launches(expr hcl.Expression) []int {
	items, isList, whole := l.list(expr, "launches")
	if !isList {
		return []int{l.count(expr, "launches", 1, 1000)}
	}
	var looks []int
	last := 0
	for _, i := range items {
		n := l.countText(i, "a number of launches", 1, math.MaxInt32)
		if n > 1000 {
			l.error(i.at, "Invalid value", fmt.Sprintf("%d launches are more than 1000.", n), "")
		}
		if n <= last {
			l.error(i.at, "Invalid value", fmt.Sprintf("%d does not come after %d: looks ascend.", n, last), "Write them as [3, 5, 8, 12].")
		}
		last = n
		looks = append(looks, n)
	}
	if len(looks) == 0 && whole {
		l.error(expr.Range(), "Invalid value", "launches is empty.", "Write a number, or the looks as [3, 5, 8, 12].")
	}
	return looks
}

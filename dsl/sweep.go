// Sweeps: the tree of products, zips and concatenations.

package dsl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxValues bounds the values of a range, so that a mistyped one is reported at its place.
const maxValues = 10_000

// The limits of max_cases.
const (
	DefaultMaxCases = 10_000     // of a sweep without it
	MostCases       = 10_000_000 // of a run, and of all runs of a scenario together
)

// sweeper reads the sweep of one run.
type sweeper struct {
	*loader
	run   *Run
	index map[string]int   // of axes, by name
	known map[valueKey]int // of values in their axis
}

type valueKey struct {
	axis *Axis
	text string
}

// sweepEntry is a key of a sweep with its value, which may be a block in HCL.
type sweepEntry struct {
	name string
	at   hcl.Range
	expr hcl.Expression
	body hcl.Body // of a block; expr is then nil
}

func (e sweepEntry) place() hcl.Range {
	if e.expr == nil {
		return e.at
	}
	return e.expr.Range()
}

// sweep reads the axes of a run and how they combine. options has the run's own entries before the
// defaults. It returns false after an error.
func (l *loader) sweep(content *hcl.BodyContent, r *Run, options []entry) bool {
	before := len(l.diags)
	s := &sweeper{loader: l, run: r, index: map[string]int{}, known: map[valueKey]int{}}
	r.Sweep = Sweep{Order: Order{By: "given"}, MaxCases: DefaultMaxCases, Range: r.Range}
	entries, _ := s.top(content)
	var settings, members []sweepEntry
	for _, e := range entries {
		switch e.name {
		case "exclude", "include", "order", "max_cases":
			settings = append(settings, e)
		default:
			members = append(members, e)
		}
	}
	r.Sweep.Root = s.product(members, r.Sweep.Range)
	s.distinctRows(r.Sweep.Root, false)
	if r.Workload.Sequence != "" {
		s.sequence(options)
	}
	r.lacksAxes = l.diags[before:].HasErrors() || r.Workload.Sequence != "" && r.sequence == nil
	for _, e := range settings {
		switch e.name {
		case "include":
			if r.sequence != nil {
				s.error(e.at, "Not of a sequence", "A sequence always runs completely: points cannot be added.",
					"Write another run.")
				continue
			}
			s.include(e)
		case "order":
			s.order(e)
		case "max_cases":
			r.Sweep.MaxCases = l.count(e.expr, "max_cases", 1, MostCases)
		}
	}
	for _, a := range r.Axes {
		if r.ownAxis(a) {
			inferType(a.Values)
		}
	}
	for _, e := range settings {
		if e.name == "exclude" { // conditions need the types of all axes
			s.exclude(e)
		}
	}
	return !l.diags[before:].HasErrors()
}

// top returns the content of the sweep, in either form.
func (s *sweeper) top(content *hcl.BodyContent) ([]sweepEntry, bool) {
	for _, b := range content.Blocks {
		if b.Type == "sweep" {
			s.run.Sweep.Range = b.TypeRange
			return s.bodyEntries(b.Body), true
		}
	}
	if a, ok := content.Attributes["sweep"]; ok {
		s.run.Sweep.Range = a.NameRange
		return s.mappingEntries(a.Expr, "sweep"), true
	}
	return nil, false
}

// bodyEntries reads a block. HCL may nest blocks for product, zip and order in it.
func (s *sweeper) bodyEntries(body hcl.Body) []sweepEntry {
	var out []sweepEntry
	var attrs hcl.Attributes
	if native, ok := body.(*hclsyntax.Body); ok {
		attrs = hcl.Attributes{}
		for name, a := range native.Attributes {
			attrs[name] = a.AsHCLAttribute()
		}
		for _, b := range native.Blocks {
			if b.Type != "product" && b.Type != "zip" && b.Type != "order" || len(b.Labels) > 0 {
				s.error(b.TypeRange, "Unexpected block", fmt.Sprintf("%q is not written as a block.", b.Type),
					"Write it after an equals sign: "+b.Type+" = ….")
				continue
			}
			out = append(out, sweepEntry{name: b.Type, at: b.TypeRange, body: b.Body})
		}
	} else {
		var diags hcl.Diagnostics
		attrs, diags = body.JustAttributes()
		s.diags = append(s.diags, diags...)
	}
	for _, a := range attrs {
		out = append(out, sweepEntry{name: a.Name, at: a.NameRange, expr: a.Expr})
	}
	slices.SortFunc(out, func(a, b sweepEntry) int { return cmp.Compare(a.at.Start.Byte, b.at.Start.Byte) })
	return out
}

func (s *sweeper) mappingEntries(expr hcl.Expression, name string) []sweepEntry {
	var out []sweepEntry
	for _, e := range s.mapping(expr, name) {
		out = append(out, sweepEntry{name: e.name, at: e.at, expr: e.expr})
	}
	return out
}

// product reads members that multiply; nil without members.
func (s *sweeper) product(entries []sweepEntry, at hcl.Range) *SweepNode {
	return combined(ProductNode, s.members(entries), at)
}

// combined is a node over members, or the only member itself.
func combined(op SweepOp, members []*SweepNode, at hcl.Range) *SweepNode {
	switch len(members) {
	case 0:
		return nil
	case 1:
		return members[0]
	}
	return &SweepNode{Op: op, Members: members, Range: at}
}

func (s *sweeper) members(entries []sweepEntry) []*SweepNode {
	var nodes []*SweepNode
	seen := map[int]bool{}
	for _, e := range entries {
		n := s.member(e)
		if s.reportDuplicateAxes(n, e.at, seen) {
			return nodes
		}
		if n != nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// reportDuplicateAxes reports the axes of a node, which may be nil, that are in seen, and adds the others to it.
func (s *sweeper) reportDuplicateAxes(n *SweepNode, at hcl.Range, seen map[int]bool) bool {
	if n == nil {
		return false
	}
	for _, i := range n.axes() {
		if seen[i] {
			s.error(at, "Duplicate axis", fmt.Sprintf("Axis %q is already in this sweep.", s.run.Axes[i].Name),
				"Name each axis once. Only the branches of a concat may share axes.")
			return true
		}
		seen[i] = true
	}
	return false
}

func (s *sweeper) member(e sweepEntry) *SweepNode {
	switch e.name {
	case "product":
		return s.combination(e, ProductNode)
	case "zip":
		return s.combination(e, ZipNode)
	case "concat":
		return s.concat(e)
	case "exclude", "include", "order", "max_cases":
		s.error(e.at, "Misplaced key", fmt.Sprintf("%q belongs to the sweep as a whole.", e.name),
			"Write it directly below sweep.")
		return nil
	}
	if s.misspeltSetting(e) {
		return nil
	}
	return s.axis(e)
}

// combination reads a mapping of members or a list of mappings, each a product.
func (s *sweeper) combination(e sweepEntry, op SweepOp) *SweepNode {
	var members []*SweepNode
	if e.body != nil {
		members = s.members(s.bodyEntries(e.body))
	} else if items, diags := hcl.ExprList(e.expr); !diags.HasErrors() {
		members = s.list(e, items)
	} else {
		members = s.members(s.mappingEntries(e.expr, e.name))
	}
	n := combined(op, members, e.at)
	if n == nil {
		if !s.diags.HasErrors() {
			s.error(e.place(), "Empty sweep", fmt.Sprintf("%q holds no axes.", e.name),
				"Name axes in it, or remove it.")
		}
		return nil
	}
	if op == ZipNode {
		s.checkZipLengths(n)
	}
	return n
}

// list reads nodes in a list; their axes must differ.
func (s *sweeper) list(e sweepEntry, items []hcl.Expression) []*SweepNode {
	var members []*SweepNode
	seen := map[int]bool{}
	for _, item := range items {
		n := s.product(s.mappingEntries(item, e.name), item.Range())
		if s.reportDuplicateAxes(n, item.Range(), seen) {
			return members
		}
		if n != nil {
			members = append(members, n)
		}
	}
	return members
}

func (s *sweeper) concat(e sweepEntry) *SweepNode {
	items, diags := hcl.ExprList(e.expr)
	if diags.HasErrors() {
		s.error(e.place(), "Not a list", "concat is a list of sweeps, one after the other.",
			"Write each as an item of its own.")
		return nil
	}
	n := &SweepNode{Op: ConcatNode, Range: e.at}
	for _, item := range items {
		m := s.product(s.mappingEntries(item, "concat"), item.Range())
		if m == nil {
			if !s.diags.HasErrors() {
				s.error(item.Range(), "Empty sweep", "This branch of concat has no axes, so it would add nothing.",
					"Give it the axes of the other branches. For a variable that stays unset, write env.NAME: [null].")
			}
			continue
		}
		if len(n.Members) > 0 && !slices.Equal(n.Members[0].axes(), m.axes()) {
			s.error(item.Range(), "Different axes", fmt.Sprintf("This branch of concat has %s, but the first has %s.",
				s.names(m), s.names(n.Members[0])), "Give every branch the same axes; one with a single value is enough.")
			return nil
		}
		n.Members = append(n.Members, m)
	}
	if len(n.Members) == 0 {
		if !s.diags.HasErrors() {
			s.error(e.place(), "Empty sweep", "concat holds no sweeps.", "Give it items, or remove it.")
		}
		return nil
	}
	return n
}

func (s *sweeper) names(n *SweepNode) string {
	var names []string
	for _, i := range n.axes() {
		names = append(names, s.run.Axes[i].Name)
	}
	return strings.Join(names, ", ")
}

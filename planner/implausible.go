package planner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"weir/assertion"
	"weir/dsl"
	"weir/fabric"
	"weir/quantity"
	"weir/workload"
)

// implausible warns of an assertion of a run that asks a case for more than the link of its path carries.
func (t *Table) implausible(s *sheet, a *dsl.Assert, axes []int, of func(i int) *attached) {
	if len(t.scenario.Links) == 0 {
		return
	}
	all := slices.Concat(axes, s.axesOf(slices.Concat(pathOptions, s.run.Workload.RanksOptions())))
	slices.Sort(all)
	for _, first := range s.by(slices.Compact(all)).first {
		if first < 0 || of(int(first)) == nil {
			continue
		}
		least, asked := boundOfBandwidth(of(int(first)).Assertion)
		path, known := t.pathOf(s, int(first))
		if !asked || !known || least <= path.carries() {
			continue
		}
		t.report(&hcl.Diagnostic{
			Severity: hcl.DiagWarning, Summary: "Implausible", Subject: a.Range.Ptr(),
			Detail: fmt.Sprintf("Run %q is to have at least %s, and %s carry %d × %s = %s: %s.", s.run.Name,
				quantity.Format(least, "GB/s"), path.count, path.n, quantity.Format(path.rate, "GB/s"),
				quantity.Format(path.carries(), "GB/s"), path.why),
			Extra: dsl.Hint(
				"Correct the value, or say in place over how many nodes the ranks are spread, and how many NICs each has.",
			),
		})
	}
}

// boundOfBandwidth is the least that an assertion allows for the bandwidth of its own case.
func boundOfBandwidth(a assertion.Assertion) (least float64, ok bool) {
	subject := a.Subject
	if subject == nil || a.Bounds.Lower == nil || a.Unit != "GB/s" || subject.Op != assertion.Metric ||
		subject.Metric != workload.Bandwidth || subject.Case != "" {
		return 0, false
	}
	return *a.Bounds.Lower, true
}

// pathOptions are the options that decide which way the data of a case takes.
var pathOptions = []string{"fabric", "provider", "memory", "initiator", "target", "nodes"}

// path is the narrowest part of the way of a case's data: so many links of a kind.
type path struct {
	n     int
	rate  float64 // of one, in GB/s
	count string  // which they are, for a person
	why   string
}

func (p path) carries() float64 { return float64(p.n) * p.rate }

// pathOf is the path of a case; not known where the site names no link of it. A link named as the fabric or
// as the provider is its own. Ranks on one node have link host between them, and their GPUs nvlink or gpu. Ranks on
// several nodes have NICs between them, and so have those of a library for networks, or of programs that weir did
// not write, where the scenario does not say that there is one node: the narrower of the ways that are possible.
func (t *Table) pathOf(s *sheet, i int) (path, bool) {
	links, ranks := t.scenario.Links, max(1, s.ranks(i))
	text := func(option string) string { v, _ := s.option(option, i).(string); return v }
	each := max(1, s.run.Place.NICsPerRank)
	ofRanks := func(name, why string) (path, bool) {
		count := fmt.Sprintf("%s with %s each", plural(ranks, "rank"), plural(each, "link"))
		return path{ranks * each, links[name], count, fmt.Sprintf("%s is %s", name, why)}, true
	}
	for _, name := range []string{text("provider"), text("fabric")} {
		if _, own := links[name]; own {
			return ofRanks(
				name,
				"the link of its "+map[bool]string{true: "fabric", false: "provider"}[name == text("fabric")],
			)
		}
	}
	nodes := t.place(s.run, ranks).Nodes
	f, _ := fabric.Find(text("fabric"))
	if stays := t.onOneNode(s.run) || f.Name != "" && !f.Network && !f.Simulated; nodes == 1 &&
		(stays || !mayLeave(text("fabric"))) {
		ofGPUs := text("memory") == inGPU || text("initiator") == inGPU && text("target") == inGPU
		link := fabric.LinkWithin(links, ofGPUs)
		if link != "" || stays || ofGPUs {
			return path{
				1,
				links[link],
				"ranks on one node",
				fmt.Sprintf("%s is the link between them", link),
			}, link != ""
		}
	}
	if name := t.nic(s, i); name != "" {
		return ofRanks(name, "the link between nodes")
	}
	return path{}, false
}

// inGPU is the kind of memory that is a GPU's.
const inGPU = "vram"

// onOneNode says whether the scenario says that a run has one node.
func (t *Table) onOneNode(r *dsl.Run) bool {
	return t.scenario.Cluster.Counted || r.Place.Nodes > 0 || r.Place.RanksPerNode > 0
}

// mayLeave says whether a fabric's data may leave a node though its ranks could be on one: that of a library for
// networks, and that of programs, whose fabric nobody names. Option auto takes no such library on one node.
func mayLeave(name string) bool {
	f, _ := fabric.Find(name)
	return name == "" || f.Network && !f.Loopback
}

// nic is the link of a NIC that the data of a case takes between nodes: of those that a variable of the case names,
// or else of all, the fastest, because each could be meant.
func (t *Table) nic(s *sheet, i int) string {
	env, _ := s.env(i)
	var all, named []string
	for _, name := range slices.Sorted(maps.Keys(t.scenario.Links)) {
		if _, other := fabric.Find(name); other || fabric.WithinNodes(name) {
			continue
		}
		all = append(all, name)
		if namesDevice(env, name) {
			named = append(named, name)
		}
	}
	if len(named) > 0 {
		all = named
	}
	fastest := ""
	for _, name := range all {
		if fastest == "" || t.scenario.Links[name] > t.scenario.Links[fastest] {
			fastest = name
		}
	}
	return fastest
}

// namesDevice says whether a variable has the name of a link among its values, with or without a port.
func namesDevice(env map[string]string, link string) bool {
	for _, value := range env {
		for device := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' }) {
			if name, _, _ := strings.Cut(device, ":"); name == link {
				return true
			}
		}
	}
	return false
}

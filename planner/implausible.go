// Assertions of more bandwidth than a link has.

package planner

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// warnImplausible warns of an assertion that requires more bandwidth than the link on the case's path
// has.
func (t *Table) warnImplausible(run *runTable, a *dsl.Assert, axes []int, of func(*row) *caseAssertions) {
	if len(t.scenario.Links) == 0 {
		return
	}
	axes = append(run.axesOf(slices.Concat(pathOptions, run.run.Workload.RanksOptions())...), axes...)
	for r := range run.distinct(axes...) {
		if of(r) == nil {
			continue
		}
		least, asked := boundOfBandwidth(of(r).Assertion)
		path, known := t.pathOf(r)
		if !asked || !known || least <= path.carries() {
			continue
		}
		t.warn(a.Range, "Implausible",
			fmt.Sprintf("Run %q must have at least %s, but %s carry %s: %s.", run.run.Name,
				quantity.Format(least, "GB/s"), path.count, path.sum(), path.why),
			"Correct the value, or set in place the number of nodes and of NICs per rank.")
	}
}

// boundOfBandwidth returns the lower bound of an assertion on the bandwidth of its own case.
func boundOfBandwidth(a assertion.Assertion) (least float64, ok bool) {
	subject := a.Subject
	if subject == nil || a.Bounds.Lower == nil || a.Unit != "GB/s" || subject.Op != assertion.Metric ||
		subject.Metric != workload.Bandwidth || subject.Case != "" {
		return 0, false
	}
	return *a.Bounds.Lower, true
}

// pathOptions are the options that decide the path of a case's data.
var pathOptions = []string{"fabric", "provider", "memory", "initiator", "target", "nodes", "pattern", "bidirectional"}

// path is the narrowest part of a case's data path: n links of a kind.
type path struct {
	n     int
	rate  float64 // of one, in GB/s
	count string  // a description of the links
	why   string
}

func (p path) carries() float64 { return float64(p.n) * p.rate }

// sum is what the links carry together, as arithmetic.
func (p path) sum() string {
	return fmt.Sprintf("%d × %s = %s", p.n, quantity.Format(p.rate, "GB/s"), quantity.Format(p.carries(), "GB/s"))
}

// text says what carries how much.
func (p path) text() string { return fmt.Sprintf("%s of %s (%s)", p.sum(), p.count, p.why) }

// pathOf returns the path of a case; not ok if the site names no link of it. A link named like the
// fabric or the provider is its own. Ranks on one node use link host, their GPUs nvlink or gpu.
// Ranks on several nodes use NICs. If the scenario does not say that there is one node, network
// libraries and foreign programs may use NICs too: then the narrower path counts.
func (t *Table) pathOf(r *row) (path, bool) {
	links, ranks := t.scenario.Links, max(1, r.ranks())
	text := func(option string) string { v, _ := r.option(option).(string); return v }
	each := max(1, r.run.Place.NICsPerRank)
	ends, what := r.narrowerEnd(ranks)
	ofRanks := func(name, why string) (path, bool) {
		count := fmt.Sprintf("%s with %s each", plural(ends, "rank"), plural(each, "link"))
		if what != "" {
			count = fmt.Sprintf("the links of %s", plural(ends, what+" rank"))
		}
		return path{ends * each, links[name], count, fmt.Sprintf("%s is %s", name, why)}, true
	}
	for _, name := range []string{text("provider"), text("fabric")} {
		if _, own := links[name]; own {
			return ofRanks(name,
				"the link of its "+map[bool]string{true: "fabric", false: "provider"}[name == text("fabric")])
		}
	}
	nodes := t.place(r.run, ranks).Nodes
	f, _ := fabric.Find(text("fabric"))
	if stays := t.onOneNode(r.run) || f.Name != "" && !f.Network && !f.Simulated; nodes == 1 &&
		(stays || !mayLeave(text("fabric"))) {
		ofGPUs := text("memory") == inGPU || text("initiator") == inGPU && text("target") == inGPU
		link := fabric.LinkWithin(links, ofGPUs)
		if link != "" || stays || ofGPUs {
			return path{1, links[link], "ranks on one node", link + " is the link between them"}, link != ""
		}
	}
	if name := t.nic(r); name != "" {
		return ofRanks(name, "the link between nodes")
	}
	return path{}, false
}

// narrowerEnd returns how many ranks have the links that all data of a case crosses, and what these ranks do: data that
// flows one way is on one link of each pair of ranks. "": each rank sends and receives.
func (r *row) narrowerEnd(ranks int) (n int, what string) {
	if b, ok := r.run.Workload.Behaviour.(workload.OneWay); ok {
		switch from, to := b.Ends(r.option, ranks); {
		case len(from) == 0 || len(to) == 0:
		case len(to) < len(from):
			return len(to), "receiving"
		default:
			return len(from), "sending"
		}
	}
	return ranks, ""
}

// inGPU is the value of memory for GPU memory.
const inGPU = "vram"

// onOneNode reports whether the scenario places a run on one node.
func (t *Table) onOneNode(r *dsl.Run) bool {
	return t.scenario.Cluster.Counted || r.Place.Nodes > 0 || r.Place.RanksPerNode > 0
}

// mayLeave reports whether data of a fabric may leave the node even if the ranks could be on one:
// network libraries, and programs with unknown fabric. Option auto does not choose such a library
// on one node.
func mayLeave(name string) bool {
	f, _ := fabric.Find(name)
	return name == "" || f.Network && !f.Loopback
}

// nic returns the link of the NIC between nodes: the fastest of those that a variable of the case
// names, or else of all.
func (t *Table) nic(r *row) string {
	env, _, _ := r.env()
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
	if len(all) == 0 {
		return ""
	}
	return slices.MaxFunc(all, func(a, b string) int { return cmp.Compare(t.scenario.Links[a], t.scenario.Links[b]) })
}

// namesDevice reports whether a variable has the name of a link among its values, with or without a
// port.
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

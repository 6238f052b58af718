package results

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/redact"
)

// Differences between sessions come from whole node descriptions, not only from the parts that form the
// fingerprint: a firmware version does not invalidate a number, but may explain it.

// differenceSet gathers differences, each once with all places where it is found.
type differenceSet struct {
	list []Difference
	at   map[[3]string]int
}

func (d *differenceSet) add(of, what, base, now string) {
	if base == now {
		return
	}
	k := [3]string{what, base, now}
	i, known := d.at[k]
	if !known {
		if d.at == nil {
			d.at = map[[3]string]int{}
		}
		i = len(d.list)
		d.at[k] = i
		d.list = append(d.list, Difference{What: what, Base: base, New: now})
	}
	if of != "" { // each place once
		d.list[i].Of = append(d.list[i].Of, of)
	}
}

// addAll compares texts by name; "" is a missing one.
func (d *differenceSet) addAll(of, prefix string, base, now map[string]string) {
	names := slices.Concat(slices.Collect(maps.Keys(base)), slices.Collect(maps.Keys(now)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		d.add(of, prefix+name, base[name], now[name])
	}
}

// EnvironmentDifferences compares sessions and nodes; differences list the nodes of now. Momentary states
// and the order of nodes are ignored.
func EnvironmentDifferences(base, now *Document) []Difference {
	d := &differenceSet{}
	yes := map[bool]string{true: "yes", false: "no"}
	d.add("", "fingerprint", base.Environment.Fingerprint, now.Environment.Fingerprint)
	d.add("", "simulated", yes[base.Simulated()], yes[now.Simulated()])
	d.add("", "scenario", base.Scenario.Name, now.Scenario.Name)
	d.addAll("", "variable ", base.Scenario.Variables, now.Scenario.Variables)
	d.add("", "weir", base.Weir.Version, now.Weir.Version)
	d.add("", "weir commit", base.Weir.Commit, now.Weir.Commit)
	d.add("", "go", base.Weir.Go, now.Weir.Go)
	d.addAll("", "shell variable ", quoteEmpty(base.Environment.Variables), quoteEmpty(now.Environment.Variables))
	for _, defined := range DefinitionDifferences(base, now) {
		d.add("", defined.What, defined.Base, defined.New)
	}
	d.add("", "nodes", strconv.Itoa(len(base.Environment.Nodes)), strconv.Itoa(len(now.Environment.Nodes)))
	for _, p := range nodePairs(base.Environment.Nodes, now.Environment.Nodes) {
		d.add("", "node", p[0].Name, p[1].Name)
		d.addAll(p[1].Name, "", flattenNode(p[0]), flattenNode(p[1]))
	}
	return d.list
}

// quoteEmpty makes an empty variable differ from an unset one.
func quoteEmpty(variables map[string]string) map[string]string {
	out := make(map[string]string, len(variables))
	for name, value := range variables {
		if value == "" {
			value = `""`
		}
		out[name] = value
	}
	return out
}

// nodePairs pairs nodes by name, and those with unmatched names in order.
func nodePairs(base, now []Node) [][2]Node {
	var out [][2]Node
	named := func(list []Node, name string) int {
		return slices.IndexFunc(list, func(n Node) bool { return n.Name == name })
	}
	var strangers []Node
	for _, n := range base {
		if named(now, n.Name) < 0 {
			strangers = append(strangers, n)
		}
	}
	for _, n := range now {
		if i := named(base, n.Name); i >= 0 {
			out = append(out, [2]Node{base[i], n})
		} else if len(strangers) > 0 {
			out = append(out, [2]Node{strangers[0], n})
			strangers = strangers[1:]
		}
	}
	return out
}

// flattenNode returns a node as texts by path: "cpu.governor", "rdma.mlx5_0.firmware". Momentary states
// and virtual interfaces without a driver are left out.
func flattenNode(n Node) map[string]string {
	n.Load, n.Running = 0, 0
	n.ClockOffset, n.StampClock, n.Counters, n.Variables = ClockOffset{}, "", nil, quoteEmpty(n.Variables)
	n.NICs = slices.DeleteFunc(slices.Clone(n.NICs), func(nic NIC) bool { return nic.Driver == "" })
	for i := range n.NICs {
		n.NICs[i].State, n.NICs[i].Speed = "", ""
	}
	n.GPUReason, n.GPUs = "", slices.Clone(n.GPUs)
	for i := range n.GPUs {
		n.GPUs[i] = n.GPUs[i].Lasting()
	}
	n.Memory.Hugepages = slices.Clone(n.Memory.Hugepages)
	for i := range n.Memory.Hugepages {
		n.Memory.Hugepages[i].Free = 0
	}
	n.Memory.Total >>= 30 // GiB: the kernel's own share differs from boot to boot
	n.NUMA = slices.Clone(n.NUMA)
	for i := range n.NUMA {
		n.NUMA[i].Memory >>= 30
	}
	name := n.Name
	n.Name = ""
	b, err := json.Marshal(n)
	var tree any
	if err == nil {
		err = json.Unmarshal(b, &tree)
	}
	if err != nil { // nodes consist of texts and numbers only
		return map[string]string{"node " + name: err.Error()}
	}
	out := map[string]string{}
	flatten(out, "", tree)
	for path, text := range out {
		if path == "memory.total" || strings.HasPrefix(path, "numa.") && strings.HasSuffix(path, ".memory") {
			out[path] = text + " GiB"
		}
	}
	return out
}

// flatten writes the leaves of a tree by path; list items go by name, or by index.
func flatten(out map[string]string, path string, v any) {
	join := func(step string) string { return strings.TrimPrefix(path+"."+step, ".") }
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			flatten(out, join(k), inner)
		}
	case []any:
		for i, inner := range v {
			step := strconv.Itoa(i)
			if o, ok := inner.(map[string]any); ok {
				if name, ok := o["name"].(string); ok && name != "" {
					step = name
					if _, twice := out[join(step)+".name"]; twice { // GPUs of one kind
						step += "#" + strconv.Itoa(i)
					}
				}
			}
			flatten(out, join(step), inner)
		}
	case nil:
	default:
		out[path] = quantity.Text(v)
	}
}

// CasePair is a pair of compared cases.
type CasePair struct{ Base, New *Case }

// Differences of what launches used, as opposed to settings.
const (
	FabricDiffers    = "fabric"
	TransportDiffers = "transport"
	NodesDiffer      = "nodes of the ranks"
	ProviderDiffers  = "provider "         // and the name of a fact
	VariableDiffers  = "library variable " // and its name
	LibraryDiffers   = "library "          // and its name
)

// CaseDifferences compares settings, nodes and transports of cases; differences list the keys of the new
// cases.
func CaseDifferences(pairs []CasePair) []Difference {
	d := &differenceSet{}
	for _, p := range pairs {
		of := p.New.Key
		d.add(of, "workload", p.Base.Workload, p.New.Workload)
		d.addOptions(of, p.Base.ResolvedOptions(), p.New.ResolvedOptions())
		d.addAll(of, "env ", visibleEnv(p.Base, p.New), visibleEnv(p.New, p.Base))
		if len(moved(p.Base)) == 0 || len(moved(p.New)) == 0 {
			continue // nothing is known of what launches used
		}
		d.addAll(of, VariableDiffers, inheritedVariables(p.Base), inheritedVariables(p.New))
		d.add(of, FabricDiffers, distinctTexts(p.Base, fabricOf), distinctTexts(p.New, fabricOf))
		d.add(of, TransportDiffers, distinctTexts(p.Base, transportOf), distinctTexts(p.New, transportOf))
		for name, value := range providerFacts(p.New) { // absent from older documents
			if was, known := providerFacts(p.Base)[name]; known && !setAnywhere(p, name) {
				d.add(of, ProviderDiffers+name, was, value)
			}
		}
		for name, text := range librariesByName(p.New) { // absent from older documents
			if was, known := librariesByName(p.Base)[name]; known {
				d.add(of, LibraryDiffers+name, was, text)
			}
		}
		d.add(of, NodesDiffer, distinctTexts(p.Base, nodesOf), distinctTexts(p.New, nodesOf))
	}
	return d.list
}

// setAnywhere reports whether a library variable is set in one of the cases: it is compared as such.
func setAnywhere(p CasePair, name string) bool {
	for _, c := range []*Case{p.Base, p.New} {
		_, scenario := c.ResolvedEnv()[name]
		_, inherited := inheritedVariables(c)[name]
		if scenario || inherited {
			return true
		}
	}
	return false
}

// visibleEnv lists the variables of a case, with those hidden that are secrets of the other one.
func visibleEnv(c, other *Case) map[string]string {
	env := maps.Clone(c.ResolvedEnv())
	for _, name := range other.Secrets {
		if _, literal := env[name]; literal {
			env[name] = redact.Redacted
		}
	}
	return env
}

// inheritedVariables lists library variables that ranks had and the scenario did not set, with their
// origin; several values are joined.
func inheritedVariables(c *Case) map[string]string {
	texts := map[string][]string{}
	for _, l := range moved(c) {
		for _, v := range l.Variables {
			asked := v.From == FromScenario || v.From == FromSecret // reported as settings
			if text := v.String(); !asked && !slices.Contains(texts[v.Name], text) {
				texts[v.Name] = append(texts[v.Name], text)
			}
		}
	}
	out := map[string]string{}
	for name, list := range texts {
		out[name] = strings.Join(slices.Sorted(slices.Values(list)), or)
	}
	return out
}

// moved are the launches of a case that moved data, also those that were discarded: what they used is known.
func moved(c *Case) []*Launch {
	return slices.DeleteFunc(slices.Clone(c.Launches), func(l *Launch) bool { return l.Status != OK || l.Retried })
}

// or joins values that differ.
const or = ", or "

// providerFacts lists the facts of providers in a case's launches; several values are joined.
func providerFacts(c *Case) map[string]string {
	values := map[string][]string{}
	for _, l := range moved(c) {
		for _, f := range l.Provider {
			values[f.Name] = ordered.Append(values[f.Name], f.Value)
		}
	}
	out := map[string]string{}
	for name, list := range values {
		out[name] = strings.Join(slices.Sorted(slices.Values(list)), or)
	}
	return out
}

func nodesOf(l *Launch) string { return strings.Join(l.Nodes, ", ") }

func fabricOf(l *Launch) string { return l.Fabric }

func transportOf(l *Launch) string {
	return cmp.Or(CarriedBy(l.Transports), l.Transport)
}

// distinctTexts joins the distinct texts of a case's launches.
func distinctTexts(c *Case, of func(*Launch) string) string {
	var all []string
	for _, l := range moved(c) {
		if text := of(l); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, or)
}

package results

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"weir/quantity"
)

// What differs between two sessions comes from their documents as they are: every part of a node's description, not
// only those that the fingerprint is made of, so that a reader sees the firmware that is no reason to refuse a number
// and may well be the reason for it.

// differing gathers differences, each once with all that it is found at.
type differing struct {
	list []Difference
	at   map[[3]string]int
}

func (d *differing) add(of, what, base, now string) {
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
	if of != "" { // what is compared is compared once
		d.list[i].Of = append(d.list[i].Of, of)
	}
}

// addAll compares texts by name; one that a side lacks is "" there.
func (d *differing) addAll(of, prefix string, base, now map[string]string) {
	names := slices.Concat(slices.Collect(maps.Keys(base)), slices.Collect(maps.Keys(now)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		d.add(of, prefix+name, base[name], now[name])
	}
}

// EnvironmentDifferences are those of sessions and nodes, each with the nodes of now that
// it is found at. Momentary states are none, and neither is the order of nodes.
func EnvironmentDifferences(base, now *Document) []Difference {
	d := &differing{}
	yes := map[bool]string{true: "yes", false: "no"}
	d.add("", "fingerprint", base.Environment.Fingerprint, now.Environment.Fingerprint)
	d.add("", "simulated", yes[base.Simulated()], yes[now.Simulated()])
	d.add("", "scenario", base.Scenario.Name, now.Scenario.Name)
	d.addAll("", "variable ", base.Scenario.Variables, now.Scenario.Variables)
	d.add("", "weir", base.Weir.Version, now.Weir.Version)
	d.add("", "weir commit", base.Weir.Commit, now.Weir.Commit)
	d.add("", "go", base.Weir.Go, now.Weir.Go)
	d.addAll("", "shell variable ", shown(base.Environment.Variables), shown(now.Environment.Variables))
	if defined := DefinitionDifference(base, now); defined != nil {
		d.add("", defined.What, defined.Base, defined.New)
	}
	d.add("", "nodes", strconv.Itoa(len(base.Environment.Nodes)), strconv.Itoa(len(now.Environment.Nodes)))
	for _, p := range nodePairs(base.Environment.Nodes, now.Environment.Nodes) {
		d.add("", "node", p[0].Name, p[1].Name)
		d.addAll(p[1].Name, "", described(p[0]), described(p[1]))
	}
	return d.list
}

// shown are variables of an environment such that one with the empty text differs from
// one that is not set.
func shown(variables map[string]string) map[string]string {
	out := make(map[string]string, len(variables))
	for name, value := range variables {
		if value == "" {
			value = `""`
		}
		out[name] = value
	}
	return out
}

// nodePairs couples nodes by name, and those whose names only one side has in order.
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

// described is a node as texts by their path: "cpu.governor", "rdma.mlx5_0.firmware".
// Momentary states are not part of it, nor are interfaces without a driver: bridges
// and the ends of containers come and go.
func described(n Node) map[string]string {
	n.Load, n.Running = 0, 0
	n.ClockOffset, n.StampClock, n.Counters, n.Variables = ClockOffset{}, "", nil, shown(n.Variables)
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
	n.Memory.Total >>= 30 // GiB: what the kernel keeps for itself differs from boot to boot
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
	if err != nil { // a node that was read is texts and numbers
		return map[string]string{"node " + name: err.Error()}
	}
	out := map[string]string{}
	flatten(out, "", tree)
	return out
}

// flatten writes the leaves of a tree by their paths; an item of a list goes by its
// name, or by its place.
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

// CasePair are two cases that are compared.
type CasePair struct{ Base, New *Case }

// Of a case's launches, what they had rather than what was asked for.
const (
	FabricDiffers    = "fabric"
	TransportDiffers = "transport"
	NodesDiffer      = "nodes of the ranks"
	ProviderDiffers  = "provider "         // and the name of a fact
	VariableDiffers  = "library variable " // and its name
)

// CaseDifferences are those of what cases ask for, of where they ran, and of what carried
// their data, each with the keys of the new cases that it is found at.
func CaseDifferences(pairs []CasePair) []Difference {
	d := &differing{}
	for _, p := range pairs {
		of := p.New.Key
		d.add(of, "workload", p.Base.Workload, p.New.Workload)
		d.addAll(of, "option ", texts(p.Base.Settled()), texts(p.New.Settled()))
		d.addAll(of, "env ", p.Base.SettledEnv(), p.New.SettledEnv())
		d.addAll(of, VariableDiffers, given(p.Base), given(p.New))
		d.add(of, FabricDiffers, used(p.Base, fabricOf), used(p.New, fabricOf))
		d.add(of, TransportDiffers, used(p.Base, transportOf), used(p.New, transportOf))
		for name, value := range provided(p.New) { // documents of older versions have none
			if was, told := provided(p.Base)[name]; told {
				d.add(of, ProviderDiffers+name, was, value)
			}
		}
		d.add(of, NodesDiffer, used(p.Base, nodesOf), used(p.New, nodesOf))
	}
	return d.list
}

// given are the library variables that a case's ranks had and that the scenario did not
// set, each with where it comes from; with all values of one that differs among them.
func given(c *Case) map[string]string {
	texts := map[string][]string{}
	for _, l := range c.Succeeded() {
		for _, v := range l.Variables {
			asked := v.From == FromScenario || v.From == FromSecret // which is told as what is asked for
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

// or stands between values that are not the same everywhere.
const or = ", or "

// provided are the facts of providers that a case's launches read back, with all values of one
// that differs among them.
func provided(c *Case) map[string]string {
	values := map[string][]string{}
	for _, l := range c.Succeeded() {
		for _, f := range l.Provider {
			if !slices.Contains(values[f.Name], f.Value) {
				values[f.Name] = append(values[f.Name], f.Value)
			}
		}
	}
	out := map[string]string{}
	for name, list := range values {
		out[name] = strings.Join(slices.Sorted(slices.Values(list)), or)
	}
	return out
}

func texts(values map[string]any) map[string]string {
	out := make(map[string]string, len(values))
	for k, v := range values {
		out[k] = quantity.Text(v)
	}
	return out
}

func nodesOf(l *Launch) string { return strings.Join(l.Nodes, ", ") }

func fabricOf(l *Launch) string { return l.Fabric }

func transportOf(l *Launch) string {
	return cmp.Or(CarriedBy(l.Transports), l.Transport)
}

// used are the different texts of a case's launches.
func used(c *Case, of func(*Launch) string) string {
	var all []string
	for _, l := range c.Succeeded() {
		if text := of(l); text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	slices.Sort(all)
	return strings.Join(all, or)
}

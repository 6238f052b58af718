package history

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"weir/results"
	"weir/workload"
)

// Differ is one thing that differs between two sessions; "" is that a side lacks it.
type Differ struct {
	What string `json:"what"`
	Base string `json:"base"`
	New  string `json:"new"`
}

// momentary are parts of a node's description that change by themselves.
var momentary = map[string]bool{"clock_offset_s": true, "free": true, "state": true}

// facts are what may be the reason for a change, by name: the versions, the scenario,
// what the case asks for and what carried it, and every part of each node.
func facts(doc *results.Document, c *results.Case) map[string]string {
	out := map[string]string{
		"weir": doc.Weir.Version, "weir commit": doc.Weir.Commit, "go": doc.Weir.Go,
		"simulated": strconv.FormatBool(c.Simulated()),
	}
	for name, v := range doc.Scenario.Variables {
		out["variable "+name] = v
	}
	for name, v := range c.Options {
		out["option "+name] = workload.Text(v)
	}
	for name, v := range c.Env {
		out["env "+name] = v
	}
	if ran := c.Succeeded(); len(ran) > 0 {
		l := ran[0]
		out["fabric"], out["transport"] = l.Fabric, l.Transport
		if text := results.CarriedBy(l.Transports); text != "" {
			out["transport"] = text
		}
		for rank, node := range l.Nodes {
			out[fmt.Sprintf("node of rank %d", rank)] = node
		}
	}
	for i, n := range doc.Environment.Nodes {
		n.Memory.Total >>= 30 // GiB: what the kernel keeps for itself is another amount at each boot
		n.NUMA = slices.Clone(n.NUMA)
		for j := range n.NUMA {
			n.NUMA[j].Memory >>= 30
		}
		n.NICs = slices.DeleteFunc(slices.Clone(n.NICs), func(nic results.NIC) bool { return nic.Driver == "" }) // ends of containers come and go
		b, err := json.Marshal(n)
		var tree any
		if err == nil {
			err = json.Unmarshal(b, &tree)
		}
		if err != nil {
			panic(err) // a node is texts and numbers
		}
		flatten(out, fmt.Sprintf("node %d", i), tree)
	}
	return out
}

// flatten writes the leaves of a tree by their paths, items of a list by their names
// or places.
func flatten(out map[string]string, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if !momentary[k] {
				flatten(out, path+" "+k, inner)
			}
		}
	case []any:
		for i, inner := range v {
			step := strconv.Itoa(i)
			if o, ok := inner.(map[string]any); ok && named(v) {
				step, _ = o["name"].(string)
			}
			flatten(out, path+" "+step, inner)
		}
	case nil:
	default:
		out[path] = workload.Text(v)
	}
}

// named says whether each item of a list has a name that no other has.
func named(list []any) bool {
	seen := map[string]bool{}
	for _, v := range list {
		o, ok := v.(map[string]any)
		if !ok {
			return false
		}
		name, ok := o["name"].(string)
		if !ok || name == "" || seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// differences are the facts that two sessions do not share, by name.
func differences(base, now map[string]string) []Differ {
	all := maps.Clone(base)
	maps.Copy(all, now)
	out := []Differ{}
	for _, what := range slices.Sorted(maps.Keys(all)) {
		if base[what] != now[what] {
			out = append(out, Differ{what, base[what], now[what]})
		}
	}
	return out
}

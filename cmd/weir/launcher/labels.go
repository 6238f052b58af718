package launcher

import (
	"maps"
	"slices"
	"strings"

	"weir/cmd/weir/exit"
	"weir/executor/launch"
	"weir/executor/launch/ssh"
	"weir/executor/trust"
)

// nodeLabels reads --node-label: by node, AnyNode for all. hosts are those that there will
// be, none if that is not known yet.
func nodeLabels(texts, hosts []string) (map[string]map[string]string, error) {
	var nodes []string
	for _, h := range hosts {
		nodes = append(nodes, ssh.Node(h))
	}
	labels := map[string]map[string]string{}
	add := func(node, name, value string) {
		if labels[node] == nil {
			labels[node] = map[string]string{}
		}
		labels[node][name] = value
	}
	for _, text := range texts {
		before, value, ok := strings.Cut(text, "=")
		list, name, some := cutLast(before, ":")
		if !some {
			list, name = trust.AnyNode, before
		}
		if !ok || name == "" || list == "" {
			return nil, exit.Usage("--node-label %q: must be NAME=VALUE, or HOSTS:NAME=VALUE", text)
		}
		if list == trust.AnyNode {
			add(list, name, value)
			continue
		}
		of, err := launch.Hosts(list)
		if err != nil {
			return nil, exit.Usage("--node-label %q: %w", text, err)
		}
		for _, node := range of {
			if len(nodes) > 0 && !slices.Contains(nodes, node) {
				return nil, exit.Usage("--node-label %q: %s is none of the hosts", text, node)
			}
			add(node, name, value)
		}
	}
	return labels, nil
}

// labelled are those hosts that have the labels that a scenario asks for.
func labelled(hosts []string, labels map[string]map[string]string, asked map[string]string) (fit []string, err error) {
	lacks := map[string]bool{}
	for _, h := range hosts {
		has := trust.Bootstrap{Labels: labels}.LabelsOf(ssh.Node(h))
		fits := true
		for name, value := range asked {
			if v, ok := has[name]; !ok || v != value {
				fits, lacks[name+"="+value] = false, true
			}
		}
		if fits {
			fit = append(fit, h)
		}
	}
	if len(fit) == 0 {
		return nil, exit.Usage("none of the hosts has what the scenario's cluster.labels ask for (%s): --node-label says which have it",
			strings.Join(slices.Sorted(maps.Keys(lacks)), ", "))
	}
	return fit, nil
}

func cutLast(text, by string) (before, after string, found bool) {
	i := strings.LastIndex(text, by)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(by):], true
}

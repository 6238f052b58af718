package launcher

import (
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor/control/fleet"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/executor/launcher/ssh"
)

// nodeLabels parses --node-label: labels by node, or by link.AnyNode for all nodes. hosts is empty if the
// hosts are not known yet.
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
			list, name = link.AnyNode, before
		}
		if !ok || name == "" || list == "" {
			return nil, exit.Usage("--node-label %q: must be NAME=VALUE, or HOSTS:NAME=VALUE", text)
		}
		if list == link.AnyNode {
			add(list, name, value)
			continue
		}
		of, err := launcher.Hosts(list)
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

// labelled are the hosts with the labels that a scenario asks for.
func labelled(hosts []string, labels map[string]map[string]string, asked map[string]string) (fit []string, err error) {
	lacks := map[string]bool{}
	for _, h := range hosts {
		has := fleet.LabelsOf(labels, ssh.Node(h))
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
		return nil, exit.Usage("no host has the labels that the scenario's cluster.labels ask for (%s): set them with --node-label",
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

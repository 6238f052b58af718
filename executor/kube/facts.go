package kube

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/shortage"
)

// Wanted is what a check asks of a cluster.
type Wanted struct {
	DaemonSet, Deployment, CRD string
	Namespace                  string // of DaemonSet and Deployment; "": the client's
	Exists                     bool   // their pods need not be ready
	Labels, Allocatable        map[string]string
	Nodes                      int // that are ready and have Labels and Allocatable; 0: the check is not about nodes
}

// Lacks asks the cluster, and describes what it lacks.
func (c *Client) Lacks(ctx context.Context, w Wanted) (lacks []string, err error) {
	in := *c
	if w.Namespace != "" {
		in.Namespace = w.Namespace
	}
	for _, o := range []struct {
		kind, name string
		status     func(object) string
	}{
		{"daemonset", w.DaemonSet, daemonSetStatus}, {"deployment", w.Deployment, deploymentStatus},
		{"crd", w.CRD, crdStatus},
	} {
		if o.name == "" {
			continue
		}
		why, err := in.objectLacks(ctx, o.kind, o.name, o.status, w.Exists && o.kind != "crd")
		if err != nil {
			return nil, err
		}
		if why != "" {
			lacks = append(lacks, why)
		}
	}
	if w.Nodes == 0 {
		return lacks, nil
	}
	why, err := c.nodesLack(ctx, w)
	return append(lacks, why...), err
}

// object has what a check reads of an object: the counts of a DaemonSet or Deployment, the conditions of others.
type object struct {
	Spec   struct{ Replicas *int }
	Status struct {
		DesiredNumberScheduled, NumberReady, ReadyReplicas int
		Conditions                                         []condition
	}
}

type condition struct{ Type, Status string }

func is(all []condition, of string) bool { return slices.Contains(all, condition{of, "True"}) }

func daemonSetStatus(o object) string {
	switch s := o.Status; {
	case s.DesiredNumberScheduled == 0:
		return "runs on no node"
	case s.NumberReady < s.DesiredNumberScheduled:
		return fmt.Sprintf("has %d of %d pods ready", s.NumberReady, s.DesiredNumberScheduled)
	}
	return ""
}

func deploymentStatus(o object) string {
	want := 1 // the default of Kubernetes
	if o.Spec.Replicas != nil {
		want = *o.Spec.Replicas
	}
	if o.Status.ReadyReplicas < want || want == 0 {
		return fmt.Sprintf("has %d of %d replicas ready", o.Status.ReadyReplicas, want)
	}
	return ""
}

func crdStatus(o object) string {
	if !is(o.Status.Conditions, "Established") {
		return "is not established"
	}
	return ""
}

// objectLacks describes what is wrong with an object; "": nothing.
func (c *Client) objectLacks(ctx context.Context, kind, name string, status func(object) string,
	exists bool) (string, error) {
	var o object
	err := c.Get(ctx, &o, kind, name)
	where := ""
	if c.Namespace != "" && kind != "crd" {
		where = " in namespace " + c.Namespace
	}
	switch {
	case err != nil && strings.Contains(err.Error(), "(NotFound)"):
		return fmt.Sprintf("there is no %s %s%s", kind, name, where), nil
	case err != nil:
		return "", err
	case exists:
		return "", nil
	}
	if why := status(o); why != "" {
		return fmt.Sprintf("%s %s%s %s", kind, name, where, why), nil
	}
	return "", nil
}

// node is what a check reads of a node.
type node struct {
	Metadata struct {
		Name   string
		Labels map[string]string
	}
	Spec   struct{ Unschedulable bool }
	Status struct {
		Allocatable map[string]string
		Conditions  []condition
	}
}

// nodesLack describes why too few nodes have all that is wanted.
func (c *Client) nodesLack(ctx context.Context, w Wanted) ([]string, error) {
	var list struct{ Items []node }
	if err := c.Get(ctx, &list, "nodes"); err != nil {
		return nil, err
	}
	fit, refused := 0, []string{}
	for _, n := range list.Items {
		why, err := n.lacks(w)
		if err != nil {
			return nil, err
		}
		if why == "" {
			fit++
		} else {
			refused = append(refused, fmt.Sprintf("node %s %s", n.Metadata.Name, why))
		}
	}
	if fit >= w.Nodes {
		return nil, nil
	}
	return shortage.Nodes(w.Nodes, fit, len(list.Items), refused), nil
}

// lacks describes the first things that a node lacks; "": nothing.
func (n *node) lacks(w Wanted) (string, error) {
	switch {
	case !is(n.Status.Conditions, "Ready"):
		return "is not ready", nil
	case n.Spec.Unschedulable:
		return "is cordoned", nil
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(w.Labels)) {
		if has, ok := n.Metadata.Labels[name]; !ok {
			all = append(all, "has no label "+name)
		} else if has != w.Labels[name] {
			all = append(all, fmt.Sprintf("has %s=%s, not %s", name, has, w.Labels[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Allocatable)) {
		need, err := Quantity(w.Allocatable[name])
		if err != nil {
			return "", fmt.Errorf("allocatable %s: %w", name, err)
		}
		if need == 0 {
			continue
		}
		text, ok := n.Status.Allocatable[name]
		there, err := Quantity(text)
		switch {
		case !ok:
			all = append(all, "has no "+name)
		case err != nil:
			return "", fmt.Errorf("node %s: allocatable %s: %w", n.Metadata.Name, name, err)
		case there < need:
			all = append(all, fmt.Sprintf("has %s of %s (needed: %s)", text, name, w.Allocatable[name]))
		}
	}
	return strings.Join(all, ", "), nil
}

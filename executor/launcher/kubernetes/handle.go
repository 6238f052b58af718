package kubernetes

import (
	"context"
	"fmt"
	"strings"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/executor/launcher"
)

// handle is the Job of a session.
type handle struct {
	l      *Launcher
	r      *launcher.Request
	name   string
	image  string              // that the manifest names
	images map[string]string   // that the agents started in, by node
	queued bool                // a queue resumes the Job, not weir
	logs   map[string][]string // last lines of failed pods, by pod
	seen   map[string]string   // known pods, by node

	supplied map[string]bool // pods that have weir
}

const (
	mostAsked = 3 // pods with events that are read in a poll: each takes a process
	tailLines = "20"
	tailBytes = "16384"
)

// Poll returns the states of the agents, by index.
func (h *handle) Poll(ctx context.Context) ([]launcher.Worker, error) {
	pods, err := h.poll(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]launcher.Worker, len(pods))
	for i, p := range pods {
		out[i] = p.Worker
	}
	return out, nil
}

func (h *handle) poll(ctx context.Context) ([]pod, error) {
	var all struct{ Items []kube.Item }
	if err := h.l.kube.Get(ctx, &all, "jobs.batch,pods", "--selector", mark+"="+h.name); err != nil {
		return nil, fmt.Errorf("listing the session's pods: %w", err)
	}
	pods := judge(h.r.Session, h.r.Nodes, all.Items)
	if err := h.explainMissing(ctx, pods, all.Items); err != nil {
		return nil, err
	}
	h.remember(pods)
	asked := 0
	for i := range pods {
		p := &pods[i]
		if p.silent && p.name != "" && asked < mostAsked {
			asked++
			reason, err := h.events(ctx, "Pod", p.name)
			if err != nil {
				return nil, err
			}
			p.Reason = reason
		}
		if p.State == launcher.Exited && p.Code != 0 {
			p.Log = h.tail(ctx, p.name)
		}
	}
	return pods, nil
}

// remember stores the present pods, and marks those that have disappeared as lost: the Job does not replace them.
func (h *handle) remember(pods []pod) {
	for i := range pods {
		p := &pods[i]
		if p.name != "" {
			h.seen[p.Node] = p.name
		} else if name := h.seen[p.Node]; name != "" && p.State == launcher.Pending {
			p.State, p.Reason, p.silent = launcher.Lost, "its pod "+name+" is gone: it was deleted", false
		}
	}
}

// explainMissing sets the reason for missing pods.
func (h *handle) explainMissing(ctx context.Context, pods []pod, items []kube.Item) error {
	var missing []*pod
	for i := range pods {
		if pods[i].name == "" {
			missing = append(missing, &pods[i])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	state, reason, hopeless := launcher.Lost, "the Job "+h.name+" is gone: it was deleted", false
	for i := range items {
		job := &items[i]
		if job.Kind != "Job" {
			continue
		}
		failed := job.Condition("Failed")
		switch {
		case failed.Status == "True":
			reason = kube.Sentence(failed.Reason, failed.Message)
		case job.Spec.Suspend:
			state, reason = launcher.Pending, "the Job is held back in a queue"
		default:
			state = launcher.Pending
			var err error
			if reason, err = h.events(ctx, "Job", h.name); err != nil {
				return err
			}
			// a quota may become free; rights and policies do not change
			hopeless = strings.Contains(reason, "forbidden") && !strings.Contains(reason, "exceeded quota")
		}
	}
	for _, p := range missing {
		p.State, p.Reason, p.hopeless = state, reason, hopeless
	}
	return nil
}

// events is the newest warning about an object, or "".
func (h *handle) events(ctx context.Context, kind, name string) (string, error) {
	var all struct{ Items []event }
	if err := h.l.kube.Get(ctx, &all, "events", "--field-selector",
		"type=Warning,involvedObject.kind="+kind+",involvedObject.name="+name); err != nil {
		return "", fmt.Errorf("listing the events of %s %s: %w", kind, name, err)
	}
	return latest(all.Items), nil
}

// tail is the last output of a failed agent; nil if it is not available.
func (h *handle) tail(ctx context.Context, pod string) []string {
	if lines, ok := h.logs[pod]; ok {
		return lines
	}
	out, _, err := h.l.kube.Run(ctx, nil, "logs", pod, "--container", agent, "--tail", tailLines, "--limit-bytes",
		tailBytes)
	if err != nil {
		return nil // tried again in the next poll
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	h.logs[pod] = lines
	return lines
}

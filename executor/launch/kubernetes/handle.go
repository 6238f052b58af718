package kubernetes

import (
	"context"
	"fmt"
	"strings"

	"weir/executor/launch"
)

// handle is the Job of a session.
type handle struct {
	l      *Launcher
	r      *launch.Request
	name   string
	queued bool                // something else than weir lets the Job go
	logs   map[string][]string // last lines of pods that have failed, by pod
	seen   map[string]string   // pods that there were, by node

	supplied map[string]bool // pods that have weir
}

const (
	// Each question about a pod is a process: what many wait for, a few can tell.
	mostAsked = 3
	tailLines = "20"
	tailBytes = "16384"
)

// Poll says what the cluster knows of each agent, by index.
func (h *handle) Poll(ctx context.Context) ([]launch.Worker, error) {
	pods, err := h.poll(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]launch.Worker, len(pods))
	for i, p := range pods {
		out[i] = p.Worker
	}
	return out, nil
}

func (h *handle) poll(ctx context.Context) ([]pod, error) {
	var all struct{ Items []item }
	if err := h.l.get(ctx, &all, "jobs.batch,pods", "--selector", mark+"="+h.name); err != nil {
		return nil, fmt.Errorf("asking for the session's pods: %w", err)
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
		if p.State == launch.Exited && p.Code != 0 {
			p.Log = h.tail(ctx, p.name)
		}
	}
	return pods, nil
}

// remember keeps which pods there are, and says of those that there were that they are
// gone: a Job makes no others in their place.
func (h *handle) remember(pods []pod) {
	for i := range pods {
		p := &pods[i]
		if p.name != "" {
			h.seen[p.Node] = p.name
		} else if name := h.seen[p.Node]; name != "" && p.State == launch.Pending {
			p.State, p.Reason, p.silent = launch.Lost, "its pod "+name+" is gone: somebody or something has deleted it",
				false
		}
	}
}

// explainMissing says why there are no pods where there should be.
func (h *handle) explainMissing(ctx context.Context, pods []pod, items []item) error {
	var missing []*pod
	for i := range pods {
		if pods[i].name == "" {
			missing = append(missing, &pods[i])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	state, reason, hopeless := launch.Lost, "the Job "+h.name+" is gone: somebody has deleted it", false
	for i := range items {
		job := &items[i]
		if job.Kind != "Job" {
			continue
		}
		failed := job.condition("Failed")
		switch {
		case failed.Status == "True":
			reason = sentence(failed.Reason, failed.Message)
		case job.Spec.Suspend:
			state, reason = launch.Pending, "the Job is held back in a queue"
		default:
			state = launch.Pending
			var err error
			if reason, err = h.events(ctx, "Job", h.name); err != nil {
				return err
			}
			// A quota may be free again; rights and rules stay.
			hopeless = strings.Contains(reason, "forbidden") && !strings.Contains(reason, "exceeded quota")
		}
	}
	for _, p := range missing {
		p.State, p.Reason, p.hopeless = state, reason, hopeless
	}
	return nil
}

// events is the newest warning about an object, "" if there is none.
func (h *handle) events(ctx context.Context, kind, name string) (string, error) {
	var all struct{ Items []event }
	if err := h.l.get(ctx, &all, "events", "--field-selector",
		"type=Warning,involvedObject.kind="+kind+",involvedObject.name="+name); err != nil {
		return "", fmt.Errorf("asking what happened to the %s %s: %w", kind, name, err)
	}
	return latest(all.Items), nil
}

// tail is what a failed agent said last; nil where nobody knows any more.
func (h *handle) tail(ctx context.Context, pod string) []string {
	if lines, ok := h.logs[pod]; ok {
		return lines
	}
	out, _, err := h.l.kubectl(ctx, nil, "logs", pod, "--container", agent, "--tail", tailLines, "--limit-bytes",
		tailBytes)
	if err != nil {
		return nil // asked again next time
	}
	var lines []string
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	h.logs[pod] = lines
	return lines
}

package kubernetes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"weir/executor/launch"
)

// Start creates a session's objects and returns when each of its agents runs. Where
// one cannot, it says why and leaves nothing behind.
func (l *Launcher) Start(ctx context.Context, r launch.Request) (launch.Handle, error) {
	h, err := l.begin(ctx, &r)
	if err != nil {
		return nil, err
	}
	if err := h.await(ctx); err != nil {
		return nil, h.undo(ctx, err)
	}
	return h, nil
}

// begin creates the Job held back, then what it owns, and lets it go. A coordinator
// that is killed in between leaves a Job without pods, which Reap finds.
func (l *Launcher) begin(ctx context.Context, r *launch.Request) (*handle, error) {
	values, err := secretValues(r)
	if err != nil {
		return nil, err
	}
	m, err := l.manifests(r, values)
	if err != nil {
		return nil, err
	}
	spec := m.job["spec"].(object)
	// A queue (Kueue, or one that a patch speaks of) lets the Job go itself.
	h := &handle{l: l, r: r, name: Name(r.Session), logs: map[string][]string{}, seen: map[string]string{},
		supplied: map[string]bool{},
		queued:   spec["suspend"] == true || part(m.job, "metadata", "labels")["kueue.x-k8s.io/queue-name"] != nil}
	spec["suspend"] = true
	made, _, err := l.create(ctx, []any{m.job}) // Check has told what the cluster warns of
	if err != nil {
		return nil, fmt.Errorf("creating the Job %s: %w", h.name, err)
	}
	if err := h.complete(ctx, part(made, "metadata")["uid"], m); err != nil {
		return nil, h.undo(ctx, err)
	}
	return h, nil
}

// complete creates what the Job owns, and lets the Job go.
func (h *handle) complete(ctx context.Context, uid any, m *manifests) error {
	for _, o := range []object{m.service, m.secret} {
		o["metadata"].(object)["ownerReferences"] = []any{
			object{"apiVersion": "batch/v1", "kind": "Job", "name": h.name, "uid": uid},
		}
	}
	if _, _, err := h.l.create(ctx, []any{m.service, m.secret}); err != nil {
		return fmt.Errorf("creating the Service and the Secret %s: %w", h.name, err)
	}
	if h.queued {
		return nil
	}
	release, err := json.Marshal(object{"spec": object{"suspend": false}})
	if err != nil {
		return err
	}
	if _, _, err := h.l.kubectl(ctx, nil, "patch", "job", h.name, "--type", "merge", "--patch",
		string(release)); err != nil {
		return fmt.Errorf("letting the Job %s go: %w", h.name, err)
	}
	return nil
}

// undo takes away what a failed start has made.
func (h *handle) undo(ctx context.Context, why error) error {
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return errors.Join(why, h.Stop(clean, time.Second))
}

// await returns when every agent runs or has run.
func (h *handle) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, h.l.o.Wait, errTooLong)
	defer cancel()
	var told string
	hopeless := map[string]time.Time{} // since when, by node
	failed := 0
	for {
		pods, err := h.poll(ctx)
		switch {
		case err == nil:
			failed = 0
			if err := h.supply(ctx, pods); err != nil {
				return err
			}
			waiting, err := h.started(pods, hopeless)
			if err != nil || waiting == "" {
				return err
			}
			if waiting != told {
				h.r.Tell("%s", waiting)
				told = waiting
			}
		case ctx.Err() != nil:
		case failed == mostFailures:
			return err
		default:
			failed++
		}
		select {
		case <-ctx.Done():
			return h.gaveUp(ctx, told)
		case <-time.After(h.l.poll):
		}
	}
}

// mostFailures in a row are a cluster's hiccup; one more is its answer.
const mostFailures = 5

var errTooLong = errors.New("waited long enough")

func (h *handle) gaveUp(ctx context.Context, told string) error {
	if context.Cause(ctx) != errTooLong {
		return context.Cause(ctx)
	}
	if strings.Contains(told, "anti-affinity") {
		told += " (each agent needs a machine of its own)"
	}
	return fmt.Errorf("after %v %s; --kube-wait allows more", h.l.o.Wait, told)
}

// started says what the pods wait for, "" if for nothing, and fails where waiting is
// of no use.
func (h *handle) started(pods []pod, hopeless map[string]time.Time) (waiting string, err error) {
	nodes := map[string][]string{} // by what they wait for
	for i := range pods {
		p := &pods[i]
		switch p.State {
		case launch.Running:
			delete(hopeless, p.Node)
			continue
		case launch.Exited:
			if p.Code != 0 {
				return "", fmt.Errorf("the agent of %s has ended with exit code %d as soon as it was started: %s",
					p.Node, p.Code, strings.Join(append([]string{p.Reason}, p.Log...), "\n"))
			}
			continue
		case launch.Lost:
			return "", fmt.Errorf("the agent of %s cannot run: %s", p.Node, p.Reason)
		}
		if !p.hopeless {
			delete(hopeless, p.Node)
		} else if hopeless[p.Node].IsZero() {
			hopeless[p.Node] = time.Now()
		} else if time.Since(hopeless[p.Node]) > h.l.patience {
			return "", fmt.Errorf("the agent of %s cannot start: %s", p.Node, p.Reason)
		}
		nodes[p.Reason] = append(nodes[p.Reason], p.Node)
	}
	var parts []string
	for reason, of := range nodes {
		text := fmt.Sprintf("%d of %d pods are not yet running", len(of), len(pods))
		if len(of) == 1 {
			text = of[0] + " is not yet running"
		}
		if reason != "" {
			text += ": " + reason
		}
		parts = append(parts, text)
	}
	slices.Sort(parts)
	return strings.Join(parts, "; "), nil
}

package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/kube"
	"github.com/weir-bench/weir/executor/launcher"
)

// Start creates a session's objects and returns when all agents run. After a failure, it removes the objects.
func (l *Launcher) Start(ctx context.Context, r launcher.Request) (launcher.Handle, error) {
	h, err := l.begin(ctx, &r)
	if err != nil {
		return nil, err
	}
	if err := h.await(ctx); err != nil {
		return nil, h.undo(ctx, err)
	}
	return h, nil
}

// begin creates the suspended Job, then its objects, and resumes it. If the coordinator is killed in between,
// a Job without pods is left, which Reap finds.
func (l *Launcher) begin(ctx context.Context, r *launcher.Request) (*handle, error) {
	values, err := secretValues(r)
	if err != nil {
		return nil, err
	}
	m, err := l.manifests(ctx, r, values)
	if err != nil {
		return nil, err
	}
	spec := m.job["spec"].(object)
	// a queue (Kueue, or one in a patch) resumes the Job itself
	h := &handle{l: l, r: r, name: Name(r.Session), logs: map[string][]string{}, seen: map[string]string{},
		supplied: map[string]bool{}, image: askedImage(m.job),
		queued: spec["suspend"] == true || kube.Part(m.job, "metadata", "labels")["kueue.x-k8s.io/queue-name"] != nil}
	spec["suspend"] = true
	made, _, err := l.create(ctx, []object{m.job}) // Check has printed the warnings
	if err != nil {
		return nil, fmt.Errorf("creating the Job %s: %w", h.name, err)
	}
	if err := h.complete(ctx, kube.Part(made[0], "metadata")["uid"], m); err != nil {
		return nil, h.undo(ctx, err)
	}
	return h, nil
}

// create uses kubectl create and not apply, which would copy secrets into an annotation.
func (l *Launcher) create(ctx context.Context, all []object, args ...string) ([]object, []string, error) {
	made, warnings, err := l.kube.Do(ctx, "create", all, append([]string{"--validate=strict"}, args...)...)
	if err == nil && len(made) == 0 {
		err = errors.New("kubectl create: its output is empty")
	}
	return made, warnings, err
}

// complete creates the objects of the Job, and resumes it.
func (h *handle) complete(ctx context.Context, uid any, m *manifests) error {
	for _, o := range []object{m.service, m.secret} {
		o["metadata"].(object)["ownerReferences"] = []any{
			object{"apiVersion": "batch/v1", "kind": "Job", "name": h.name, "uid": uid},
		}
	}
	if _, _, err := h.l.create(ctx, []object{m.service, m.secret}); err != nil {
		return fmt.Errorf("creating the Service and the Secret %s: %w", h.name, err)
	}
	if h.queued {
		return nil
	}
	if _, _, err := h.l.kube.Run(ctx, nil, "patch", "job", h.name, "--type", "merge", "--patch",
		`{"spec":{"suspend":false}}`); err != nil {
		return fmt.Errorf("resuming the Job %s: %w", h.name, err)
	}
	return nil
}

// undo removes the objects of a failed start.
func (h *handle) undo(ctx context.Context, why error) error {
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	return errors.Join(why, h.Stop(clean, time.Second))
}

// await returns when every agent runs or has run.
func (h *handle) await(ctx context.Context) error {
	hopeless := map[string]time.Time{} // since when, by node
	tell := func(missing string) { h.r.Tell("%s", missing) }
	err := kube.Await(ctx, h.l.poll, h.l.o.Wait, tell, func(ctx context.Context) (string, error, error) {
		pods, err := h.poll(ctx)
		if err != nil {
			return "", err, nil
		}
		if err := h.supply(ctx, pods); err != nil {
			return "", nil, err
		}
		missing, err := h.started(pods, hopeless)
		if missing == "" && err == nil {
			for _, text := range imageNews(h.image, pods) {
				h.r.Tell("%s", text)
			}
			h.images = imagesOf(pods)
		}
		return missing, nil, err
	})
	if long, ok := errors.AsType[*kube.TooLong](err); ok {
		if strings.Contains(long.Missing, "anti-affinity") {
			long.Missing += " (each agent needs a machine of its own)"
		}
		return fmt.Errorf("after %v %s; the setting kubernetes.wait allows more", h.l.o.Wait, long.Missing)
	}
	return err
}

// started describes the pods that wait, or is "". The error means that waiting is useless.
func (h *handle) started(pods []pod, hopeless map[string]time.Time) (waiting string, err error) {
	nodes := map[string][]string{} // by what they wait for
	for i := range pods {
		p := &pods[i]
		switch p.State {
		case launcher.Running:
			delete(hopeless, p.Node)
			continue
		case launcher.Exited:
			if p.Code != 0 {
				return "", fmt.Errorf("the agent of %s has ended with exit code %d as soon as it was started: %s",
					p.Node, p.Code, strings.Join(append([]string{p.Reason}, p.Log...), "\n"))
			}
			continue
		case launcher.Lost:
			return "", fmt.Errorf("the agent of %s cannot run: %s", p.Node, p.Reason)
		}
		if !p.hopeless {
			delete(hopeless, p.Node)
		} else if hopeless[p.Node].IsZero() {
			hopeless[p.Node] = time.Now()
		} else if time.Since(hopeless[p.Node]) > h.l.hopelessTime {
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

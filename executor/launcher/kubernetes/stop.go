package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// slack is the time for removing objects, beyond the grace period.
const slack = 30 * time.Second

// Stop writes the agents' output into files in the request's directory, and deletes the Job with all its
// objects. Agents that have not ended after the grace period are killed.
func (h *handle) Stop(ctx context.Context, grace time.Duration) error {
	logs := h.collect(ctx, grace)
	err := h.l.end(ctx, h.name, "jobs.batch", grace)
	return errors.Join(err, logs())
}

// Reap deletes the leftovers of a session in the cluster, including objects that were created from its
// manifests by hand, without owners.
func (l *Launcher) Reap(ctx context.Context, session string) error {
	return l.end(ctx, Name(session), "jobs.batch,services,secrets", 5*time.Second)
}

// end deletes a session's objects of some kinds, and returns when no object of it is left.
func (l *Launcher) end(ctx context.Context, name, kinds string, grace time.Duration) error {
	selector := mark + "=" + name
	ctx, cancel := context.WithTimeout(ctx, grace+slack)
	defer cancel()
	if _, _, err := l.kube.Run(ctx, nil, "delete", kinds, "--selector", selector, "--cascade=background",
		"--wait=false"); err != nil {
		return fmt.Errorf("deleting %s: %w", name, err)
	}
	// deleting the Job deletes its pods too, but with their own grace period
	seconds := max(1, int(math.Ceil(grace.Seconds())))
	if _, _, err := l.kube.Run(ctx, nil, "delete", "pods", "--selector", selector, "--grace-period",
		strconv.Itoa(seconds), "--wait=false"); err != nil {
		return fmt.Errorf("ending the pods of %s: %w", name, err)
	}
	var left []string
	for {
		out, _, err := l.kube.Run(ctx, nil, "get", "jobs.batch,pods,services,secrets", "--selector", selector,
			"--output", "name")
		if err == nil {
			if left = strings.Fields(string(out)); len(left) == 0 {
				return nil
			}
		} else if ctx.Err() == nil {
			return fmt.Errorf("listing the remaining objects of %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster has not yet removed %s: a pod on an unreachable node stays until the node is back or removed",
				strings.Join(left, ", "))
		case <-time.After(l.poll):
		}
	}
}

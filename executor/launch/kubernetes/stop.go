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

// slack is what a cluster may take beyond the grace to take objects away.
const slack = 30 * time.Second

// Stop writes what the agents have said into the request's directory, a file for each,
// and deletes the Job and with it all that it owns. Agents are told to end, and those
// that have not ended after the grace are killed.
func (h *handle) Stop(ctx context.Context, grace time.Duration) error {
	logs := h.collect(ctx, grace)
	err := h.l.end(ctx, h.name, "jobs.batch", grace)
	return errors.Join(err, logs())
}

// Reap deletes what a session has left in the cluster, also what somebody has made of
// its manifests by hand, where nothing owns anything.
func (l *Launcher) Reap(ctx context.Context, session string) error {
	return l.end(ctx, Name(session), "jobs.batch,services,secrets", 5*time.Second)
}

// end deletes a session's objects of the given kinds and returns when nothing at all is
// left of it.
func (l *Launcher) end(ctx context.Context, name, kinds string, grace time.Duration) error {
	selector := mark + "=" + name
	ctx, cancel := context.WithTimeout(ctx, grace+slack)
	defer cancel()
	if _, _, err := l.kubectl(ctx, nil, "delete", kinds, "--selector", selector, "--cascade=background",
		"--wait=false"); err != nil {
		return fmt.Errorf("deleting %s: %w", name, err)
	}
	// The Job's going takes them along too, with the grace that they were made with.
	seconds := max(1, int(math.Ceil(grace.Seconds())))
	if _, _, err := l.kubectl(ctx, nil, "delete", "pods", "--selector", selector, "--grace-period",
		strconv.Itoa(seconds), "--wait=false"); err != nil {
		return fmt.Errorf("ending the pods of %s: %w", name, err)
	}
	var left []string
	for {
		out, _, err := l.kubectl(ctx, nil, "get", "jobs.batch,pods,services,secrets", "--selector", selector,
			"--output", "name")
		if err == nil {
			if left = strings.Fields(string(out)); len(left) == 0 {
				return nil
			}
		} else if ctx.Err() == nil {
			return fmt.Errorf("looking what is left of %s: %w", name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the cluster has not yet taken away %s: a pod on a node that does not answer stays until that is back or removed",
				strings.Join(left, ", "))
		case <-time.After(l.poll):
		}
	}
}

package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/launcher"
)

// Times of waiting for agents.
const (
	assembleTime = time.Minute     // default of Options.Wait
	refusalTime  = time.Second     // to read the refusals of agents
	quietTime    = 3 * time.Second // before the first message about missing agents
	overdueTime  = 5 * time.Second // before other agents are invited instead of missing ones
)

// Assemble waits for the agents: for all that were started or invited, or for enough of them if the
// others have failed. The error is a *TooFewError if too few came.
func (f *Fleet) Assemble(ctx context.Context) (err error) {
	defer func() { f.assembled(err == nil) }()
	limit := f.o.Wait
	if limit <= 0 {
		limit = assembleTime
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errTooFew)
	defer cancel()
	clock := time.NewTicker(polling)
	defer clock.Stop()
	begun, said := time.Now(), ""
	for {
		failed := f.absentees()
		here, called := len(f.c.Hosts.Nodes), max(f.want(), f.called())
		if here >= called || here >= f.want() && here+len(failed) >= called {
			return nil
		}
		if here+len(failed) >= called {
			return f.tooFew(failed)
		}
		select {
		case c := <-f.changes:
			f.Changed(c)
		case <-clock.C:
			if f.recruits != nil {
				total := f.want()
				if time.Since(begun) > overdueTime { // a killed agent stays registered until its lease expires
					total += f.recruits.absent(f.c.Hosts.Nodes)
				}
				if err := f.invite(ctx, total); err != nil && ctx.Err() == nil {
					return err
				}
			}
			if time.Since(begun) <= quietTime {
				continue
			}
			if text := f.waiting(here, called); text != said {
				said = text
				f.o.Say(text)
			}
			if f.recruits != nil {
				for _, text := range f.readRefusals(ctx) {
					f.o.Say(text)
				}
			}
		case <-f.etcdLost():
			return registry.ErrGone
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errTooFew) {
				if here >= f.want() {
					return nil
				}
				return f.tooFew(failed)
			}
			return context.Cause(ctx)
		}
	}
}

// etcdLost is closed when the session's etcd is lost for good; nil without an etcd.
func (f *Fleet) etcdLost() <-chan struct{} {
	if f.c.Cluster == nil {
		return nil
	}
	return f.c.Cluster.Lost()
}

// TooFewError means that too few agents joined a session.
type TooFewError struct{ text string }

func (e *TooFewError) Error() string { return e.text }

// errTooFew is the cause of a context after the time limit for agents to join.
var errTooFew = errors.New("too few agents came")

// called is the number of agents of the launcher.
func (f *Fleet) called() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.workers
}

func (f *Fleet) waiting(here, called int) string {
	text := fmt.Sprintf("waiting for agents: %d of %d have come", here, called)
	if here > 0 {
		text += " (" + strings.Join(slices.Sorted(maps.Keys(f.c.Hosts.Nodes)), ", ") + ")"
	}
	if f.recruits != nil && len(f.recruits.invited) < f.want() {
		text += fmt.Sprintf("; %d more must register and be free", f.want()-len(f.recruits.invited))
	}
	return text
}

// tooFew is a TooFewError that lists the missing agents with the known reasons.
func (f *Fleet) tooFew(failed map[string]error) error {
	var reasons []string
	for _, node := range slices.Sorted(maps.Keys(failed)) {
		reasons = append(reasons, failed[node].Error())
	}
	if r := f.recruits; r != nil {
		f.readRefusals(context.Background())
		for _, node := range slices.Sorted(maps.Keys(r.invited)) {
			if _, came := f.c.Hosts.Nodes[node]; !came {
				why := cmp.Or(r.refusals[node], "see its own output")
				reasons = append(reasons, fmt.Sprintf("node %s was invited and did not come: %s", node, why))
			}
		}
		for _, node := range slices.Sorted(maps.Keys(r.unusable)) {
			reasons = append(reasons, fmt.Sprintf("node %s: %s", node, r.unusable[node]))
		}
		if len(r.invited) < f.want() {
			reasons = append(reasons, fmt.Sprintf("registered and free agents: %d; `weir cluster status` lists all",
				len(r.invited)))
		}
	}
	text := fmt.Sprintf("%d of %d nodes came", len(f.c.Hosts.Nodes), f.want())
	return &TooFewError{text + listed(reasons)}
}

// listed formats reasons: one on the line of the error, several on a line each.
func listed(reasons []string) string {
	switch len(reasons) {
	case 0:
		return ""
	case 1:
		return ": " + reasons[0]
	}
	return ":\n" + strings.Join(reasons, "\n")
}

// reacquireTime is the time limit for lost agents to return or be replaced by other registered ones.
const reacquireTime = 15 * time.Second

// replaceTime is the time limit for a launcher to start replacements.
const replaceTime = time.Minute

// Reacquire waits until there are enough nodes for a launch. Too few nodes are no error: the preparation
// of the launch reports what is missing.
func (f *Fleet) Reacquire(ctx context.Context, need int) error {
	hosts := f.c.Hosts
	if len(hosts.Nodes) >= need || f.exhausted {
		return nil
	}
	if f.recruits == nil {
		return f.replace(ctx, need)
	}
	f.sayf("%d of %d nodes are here; waiting up to %v for more", len(hosts.Nodes), need, reacquireTime)
	ctx, cancel := context.WithTimeoutCause(ctx, reacquireTime, errTooFew)
	defer cancel()
	// lost agents may return, or others may replace them
	total := len(f.recruits.invited) + need - len(hosts.Nodes)
	for len(hosts.Nodes) < need {
		if err := f.invite(ctx, total); err != nil && ctx.Err() == nil {
			return err
		}
		pause, cancel := context.WithTimeoutCause(ctx, polling, errPause)
		err := f.c.Owner.Wait(pause, func() bool { return len(hosts.Nodes) >= need })
		cancel()
		switch {
		case errors.Is(err, errTooFew):
			f.exhausted = true
			return nil
		case err != nil && !errors.Is(err, errPause):
			return err
		}
	}
	return nil
}

// replace lets the launcher start replacements for lost agents, if it can: an agent of a launcher ends
// with its link.
func (f *Fleet) replace(ctx context.Context, need int) error {
	f.exhausted = true
	if err := f.awaitCauses(ctx); err != nil {
		return err
	}
	handle, ok := f.handle.(launcher.Replacer)
	if !ok {
		return nil
	}
	limit, cancel := context.WithTimeoutCause(ctx, replaceTime, errTooFew)
	defer cancel()
	started := make(chan int, 1)
	n := need - len(f.c.Hosts.Nodes)
	f.wg.Go(func() { started <- handle.Replace(limit, n) })
	ready := func() bool {
		select {
		case count := <-started:
			if count < n {
				cancel()
			}
		default:
		}
		return len(f.c.Hosts.Nodes) >= need
	}
	for {
		pause, resume := context.WithTimeoutCause(limit, polling/4, errPause)
		err := f.c.Owner.Wait(pause, ready)
		resume()
		switch {
		case err == nil:
			f.exhausted = false
			return nil
		case ctx.Err() != nil:
			return err
		case limit.Err() != nil:
			return nil
		case !errors.Is(err, errPause):
			return err
		}
	}
}

// errPause is the cause of a context after a pause between checks.
var errPause = errors.New("time for the next check")

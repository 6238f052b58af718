package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"weir/executor/cluster"
	"weir/executor/launch"
)

// Times of waiting for agents.
const (
	assembleTime = time.Minute     // where nobody says how long
	wordTime     = time.Second     // to read what an agent says
	quiet        = 3 * time.Second // before who waits is told for whom
	overdue      = 5 * time.Second // before others are asked instead of who does not come
)

// Assemble waits for the fleet: until all that were called have come, or enough have and
// of the others it is known that they will not.
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
	begun, told := time.Now(), ""
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
		case m, ok := <-f.c.Changes:
			if !ok {
				return cluster.ErrGone
			}
			if err := f.c.Owner.Changed(m); err != nil {
				return err
			}
		case d := <-f.departed:
			f.Gone(d)
		case <-clock.C:
			if f.recruits != nil {
				total := f.want()
				if time.Since(begun) > overdue { // registered is who was killed, too, until its lease runs out
					total += f.recruits.absent(f.c.Hosts.Nodes)
				}
				if err := f.invite(ctx, total); err != nil && ctx.Err() == nil {
					return err
				}
			}
			if time.Since(begun) <= quiet {
				continue
			}
			if text := f.waiting(here, called); text != told {
				told = text
				f.o.Say(text)
			}
			if f.recruits != nil {
				for _, text := range f.listen(ctx) {
					f.o.Say(text)
				}
			}
		case <-f.c.Cluster.Lost():
			return cluster.ErrGone
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

// TooFewError is that of a session that did not get its agents.
type TooFewError struct{ text string }

func (e *TooFewError) Error() string { return e.text }

// errTooFew is the cause of a context whose time for agents to come is over.
var errTooFew = errors.New("too few agents came")

// called is how many agents the launcher looks after.
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

// tooFew is the error of a session that did not get its agents: it names each that is
// missing and why, as far as anybody knows.
func (f *Fleet) tooFew(failed map[string]error) error {
	var reasons []string
	for _, node := range slices.Sorted(maps.Keys(failed)) {
		reasons = append(reasons, failed[node].Error())
	}
	if r := f.recruits; r != nil {
		f.listen(context.Background()) // for the last time
		for _, node := range slices.Sorted(maps.Keys(r.invited)) {
			if _, came := f.c.Hosts.Nodes[node]; !came {
				said := "its own output says why"
				if why := r.said[node]; why != "" {
					said = "it says: " + why
				}
				reasons = append(reasons, fmt.Sprintf("node %s was invited and did not come: %s", node, said))
			}
		}
		for _, node := range slices.Sorted(maps.Keys(r.refused)) {
			reasons = append(reasons, fmt.Sprintf("node %s: %s", node, r.refused[node]))
		}
		if len(r.invited) < f.want() {
			reasons = append(reasons, fmt.Sprintf("registered and free in etcd: %d; `weir cluster status` lists all",
				len(r.invited)))
		}
	}
	text := fmt.Sprintf("%d of %d nodes came", len(f.c.Hosts.Nodes), f.want())
	if len(reasons) > 0 {
		text += ": " + strings.Join(reasons, "; ")
	}
	return &TooFewError{text}
}

// reacquireTime is how long a session whose agents were lost waits for others, or for the
// same to come back, before its cases are given up.
const reacquireTime = 15 * time.Second

// replaceTime is how long a launcher may take to start others, logins and all.
const replaceTime = time.Minute

// Reacquire waits until there are enough nodes again for a launch. It is no error if there
// are not: preparing the launch says what is missing.
func (f *Fleet) Reacquire(ctx context.Context, need int) error {
	hosts := f.c.Hosts
	if len(hosts.Nodes) >= need || f.vain {
		return nil
	}
	if f.recruits == nil {
		return f.replace(ctx, need)
	}
	f.sayf("%d of %d nodes are here; waiting up to %v for more", len(hosts.Nodes), need, reacquireTime)
	ctx, cancel := context.WithTimeoutCause(ctx, reacquireTime, errTooFew)
	defer cancel()
	// those that were lost may come back, and others may come for them
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
			f.vain = true
			return nil
		case err != nil && !errors.Is(err, errPause):
			return err
		}
	}
	return nil
}

// replace has the launcher start agents in the place of those that were lost, if it can:
// an agent that a launcher has started ends with its link.
func (f *Fleet) replace(ctx context.Context, need int) error {
	f.vain = true
	if err := f.hear(ctx); err != nil {
		return err
	}
	handle, ok := f.handle.(launch.Replacer)
	if !ok {
		return nil
	}
	limit, cancel := context.WithTimeoutCause(ctx, replaceTime, errTooFew)
	defer cancel()
	defer cancel()
	begun := make(chan int, 1)
	n := need - len(f.c.Hosts.Nodes)
	f.wg.Go(func() { begun <- handle.Replace(limit, n) })
	ready := func() bool {
		select {
		case started := <-begun:
			if started < n {
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
			f.vain = false
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

// errPause is the cause of a context that only waits.
var errPause = errors.New("it is time to look again")

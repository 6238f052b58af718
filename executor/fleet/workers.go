package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"weir/executor/launch"
)

// polling is how often a launcher is asked how its agents are.
const polling = time.Second

// watch asks the launcher how its agents are. That one has ended its link tells sooner;
// why, often only the launcher knows.
func (f *Fleet) watch(ctx context.Context) {
	told := map[string]string{}
	for {
		select {
		case <-time.After(polling):
		case <-ctx.Done():
			return
		}
		workers, err := f.handle.Poll(ctx)
		if err != nil {
			continue // the launcher's own tool may be busy; agents that come do not need it
		}
		tell := f.seen(workers)
		for _, node := range slices.Sorted(maps.Keys(tell)) {
			if text := tell[node]; told[node] != text {
				told[node] = text
				f.o.Say(text)
			}
		}
	}
}

// seen takes note of what a launcher says of its agents, and gives what a person should
// be told, by node.
func (f *Fleet) seen(workers []launch.Worker) (tell map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workers, f.ended, tell = len(workers), map[string]error{}, map[string]string{}
	for _, w := range workers {
		switch {
		case w.State == launch.Exited || w.State == launch.Lost:
			f.ended[w.Node] = workerError(w)
			if f.begun {
				tell[w.Node] = f.ended[w.Node].Error()
			}
		case w.Reason != "":
			tell[w.Node] = fmt.Sprintf("node %s is %s: %s", w.Node, w.State, w.Reason)
		}
	}
	return tell
}

func workerError(w launch.Worker) error {
	text := fmt.Sprintf("the agent on node %s ended", w.Node)
	if w.State == launch.Lost {
		text = fmt.Sprintf("the agent on node %s is lost", w.Node)
	}
	if w.Reason != "" {
		text += ": " + w.Reason
	} else if w.Code != 0 {
		text += fmt.Sprintf(" with exit code %d", w.Code)
	}
	if n := len(w.Log); n > 0 {
		text += ": " + strings.Join(w.Log[max(0, n-3):], " | ")
	}
	return errors.New(text)
}

// absentees are the agents that the launcher says will not come, and have not, by node.
func (f *Fleet) absentees() map[string]error {
	f.mu.Lock()
	defer f.mu.Unlock()
	failed := maps.Clone(f.ended)
	maps.DeleteFunc(failed, func(node string, _ error) bool { _, came := f.c.Hosts.Nodes[node]; return came })
	return failed
}

// hearing is how long a launcher may take to say what became of agents that are gone.
const hearing = 5 * time.Second

// hear waits until the launcher has told what became of all agents that are not here:
// what follows from that they are gone may be the end of the session.
func (f *Fleet) hear(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, hearing, errTooFew)
	defer cancel()
	for len(f.absentees()) < max(f.want(), f.called())-len(f.c.Hosts.Nodes) { // it may not have been asked yet
		pause, cancel := context.WithTimeoutCause(ctx, polling/4, errPause)
		err := f.c.Owner.Wait(pause, func() bool { return false })
		cancel()
		switch {
		case errors.Is(err, errTooFew):
			return nil
		case !errors.Is(err, errPause):
			return err
		}
	}
	return nil
}

// assembled takes note whether enough agents have come.
func (f *Fleet) assembled(enough bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun = enough
}

// Gone tells the session that a link has ended, and why as far as anybody knows by now.
func (f *Fleet) Gone(d Departure) {
	f.mu.Lock()
	why := f.ended[d.node]
	f.mu.Unlock()
	text := departedText(d.cause)
	if why != nil {
		text += "; " + why.Error()
	}
	f.c.Owner.Lost(d.node, text)
}

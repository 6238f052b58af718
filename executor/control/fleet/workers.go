package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
)

// polling is the interval between polls of a launcher.
const polling = time.Second

// watch polls the launcher for the states of its workers. A link reports the end of an agent sooner, but
// often only the launcher knows the cause.
func (f *Fleet) watch(ctx context.Context) {
	said := map[string]string{}
	for {
		select {
		case <-time.After(polling):
		case <-ctx.Done():
			return
		}
		workers, err := f.handle.Poll(ctx)
		if err != nil {
			continue // the launcher's tool may be busy; agents can join without it
		}
		messages := f.polled(workers)
		for _, node := range slices.Sorted(maps.Keys(messages)) {
			if text := messages[node]; said[node] != text {
				said[node] = text
				f.o.Say(text)
			}
		}
	}
}

// polled stores the states of workers, and returns messages for the user by node.
func (f *Fleet) polled(workers []launcher.Worker) (messages map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.workers, f.ended, messages = len(workers), map[string]error{}, map[string]string{}
	for _, w := range workers {
		switch {
		case w.State == launcher.Exited || w.State == launcher.Lost:
			f.ended[w.Node] = workerError(w)
			if f.begun {
				messages[w.Node] = f.ended[w.Node].Error()
			}
		case w.Reason != "":
			messages[w.Node] = fmt.Sprintf("node %s is %s: %s", w.Node, w.State, w.Reason)
		}
	}
	return messages
}

func workerError(w launcher.Worker) error {
	text := fmt.Sprintf("the agent on node %s ended", w.Node)
	if w.State == launcher.Lost {
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

// absentees are the ended workers with agents that have not joined, by node.
func (f *Fleet) absentees() map[string]error {
	f.mu.Lock()
	defer f.mu.Unlock()
	failed := maps.Clone(f.ended)
	maps.DeleteFunc(failed, func(node string, _ error) bool { _, came := f.c.Hosts.Nodes[node]; return came })
	return failed
}

// causeTimeout is the time limit for a launcher to report the causes of lost agents.
const causeTimeout = 5 * time.Second

// awaitCauses waits until the launcher has reported the end of all agents that are missing, as their loss
// may end the session.
func (f *Fleet) awaitCauses(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, causeTimeout, errTooFew)
	defer cancel()
	for len(f.absentees()) < max(f.want(), f.called())-len(f.c.Hosts.Nodes) {
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

// assembled stores whether enough agents have joined.
func (f *Fleet) assembled(enough bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.begun = enough
}

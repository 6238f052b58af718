package ssh

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/executor/launcher"
)

// lostCode is ssh's exit code after a failed connection, or if a signal has ended the command.
const lostCode = 255

type handle struct {
	launcher *Launcher
	request  launcher.Request
	program  program
	spare    []string // hosts without an agent, in the order in which they get one

	mu      sync.Mutex
	workers []*worker
}

func (h *handle) add(workers []*worker) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.workers = append(h.workers, workers...)
}

func (h *handle) all() []*worker {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.workers)
}

// forget removes ended agents, and returns their hosts.
func (h *handle) forget() (hosts []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.workers = slices.DeleteFunc(h.workers, func(w *worker) bool {
		if w.poll().State == launcher.Running {
			return false
		}
		hosts = append(hosts, w.host)
		w.pipe.Close()
		w.served.Wait()
		return true
	})
	return hosts
}

// worker is an agent on a host.
type worker struct {
	*connection
	stopping atomic.Bool
	served   sync.WaitGroup
}

func newWorker(c *connection, r launcher.Request) *worker {
	w := &worker{connection: c}
	w.served.Go(func() {
		r.Serve(c.pipe)
		c.pipe.Close() // the agent's input ends, if it did not before
	})
	return w
}

// Poll returns the states of the agents: an agent runs while its ssh runs.
func (h *handle) Poll(context.Context) ([]launcher.Worker, error) {
	var all []launcher.Worker
	for _, w := range h.all() {
		all = append(all, w.poll())
	}
	return all, nil
}

func (w *worker) poll() launcher.Worker {
	now := launcher.Worker{Node: Node(w.host), State: launcher.Running, Log: w.log.All()}
	select {
	case <-w.over:
	default:
		return now
	}
	now.State, now.Code = launcher.Exited, w.cmd.ProcessState.ExitCode()
	killed := w.cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled()
	switch {
	case now.Code == 0:
	case now.Code == lostCode:
		now.State = launcher.Lost
		now.Reason = hostError(w.host, "the connection is lost, or the agent was killed", now.Log,
			"ssh ended with 255").Error()
	case killed && w.stopping.Load():
		now.State, now.Reason = launcher.Lost, w.host+
			": the agent did not end when it was told to, and its connection was cut"
	case killed && w.host == Here:
		now.State, now.Reason = launcher.Lost, fmt.Sprintf("%s: the agent was killed (%s)", w.host, w.cmd.ProcessState)
	case killed:
		now.State, now.Reason = launcher.Lost, fmt.Sprintf("%s: ssh was killed (%s)", w.host, w.cmd.ProcessState)
	default:
		now.Reason = fmt.Sprintf("%s: the agent ended with %d: %s", w.host, now.Code, w.log.Last())
	}
	return now
}

// Stop closes the agents' stdin, waits for them, and after grace kills the ssh of the remaining ones. The error
// names these: they may still run on their hosts.
func (h *handle) Stop(ctx context.Context, grace time.Duration) error {
	workers := h.all()
	errs := make([]error, len(workers))
	var group errgroup.Group
	for i, w := range workers {
		group.Go(func() error { errs[i] = w.stop(ctx, grace); return nil })
	}
	group.Wait() // each has its own error
	return errors.Join(errs...)
}

func (w *worker) stop(ctx context.Context, grace time.Duration) error {
	w.stopping.Store(true)
	defer w.served.Wait()
	defer w.pipe.Close()
	w.pipe.CloseWrite() // closed already is as good
	enough := time.NewTimer(grace)
	defer enough.Stop()
	select {
	case <-w.over:
		return nil
	case <-enough.C:
	case <-ctx.Done():
	}
	w.close()
	return fmt.Errorf("%s: the agent did not end within %v; its connection was cut, and it may still run there", w.host,
		grace)
}

// Reap logs in to all hosts and ends what has the session's mark: agents that did not
// hear that their coordinator is gone, and ranks.
func (l *Launcher) Reap(ctx context.Context, session string) error {
	if err := launcher.CheckSession(session); err != nil {
		return err
	}
	errs := make([]error, len(l.Hosts))
	var group errgroup.Group
	group.SetLimit(l.parallel())
	for i, host := range l.Hosts {
		group.Go(func() error { errs[i] = l.reapOne(ctx, host, session); return nil })
	}
	group.Wait() // each has its own error
	return errors.Join(errs...)
}

func (l *Launcher) reapOne(ctx context.Context, host, session string) error {
	c, err := l.dial(host, reap(session))
	if err != nil {
		return fmt.Errorf("%s: %w", host, err)
	}
	defer c.close()
	if _, _, err := c.await(ctx, l.connectTimeout()+loginTime, "weir-reaped"); err != nil {
		return hostError(host, "looking for agents", c.log.All(), err.Error())
	}
	return nil
}

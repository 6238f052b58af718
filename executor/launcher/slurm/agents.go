package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
)

// agents are the tasks of a job, or of a step.
type agents struct {
	r    launcher.Request
	what string // name in messages
	log  string // file
	id   string // for scancel; of a step known once it runs
	look func(context.Context) (status, error)
	kill func() // kills the srun of a step; nil for a job

	mu      sync.Mutex
	nodes   []string // by task, once they are known
	stopped bool
}

// status reads the status, and remembers the nodes, which may be unknown after the end of a job.
func (a *agents) status(ctx context.Context) (status, error) {
	s, err := a.look(ctx)
	if err != nil {
		return s, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(s.nodes) > 0 {
		a.nodes = s.nodes
	}
	if s.step != "" {
		a.id = s.step
	}
	s.nodes = a.nodes
	return s, nil
}

// Poll reads the status from Slurm, and the agents' output.
func (a *agents) Poll(ctx context.Context) ([]launcher.Worker, error) {
	s, err := a.status(ctx)
	if err != nil {
		return nil, err
	}
	out, err := readOutput(a.log)
	if err != nil {
		return nil, err
	}
	nodes := s.nodes
	if len(nodes) == 0 {
		nodes = make([]string, max(1, a.r.Nodes))
	}
	workers := make([]launcher.Worker, len(nodes))
	for task, node := range nodes {
		workers[task] = a.worker(s, out, task, node)
	}
	return workers, nil
}

func (a *agents) worker(s status, out *output, task int, node string) launcher.Worker {
	w := launcher.Worker{Node: node, Log: out.of(task)}
	ended, known := out.ended[node]
	switch {
	case s.pending():
		w.State = launcher.Pending
		w.Reason, _ = explain(s.reason)
	case known:
		w.State, w.Code = launcher.Exited, ended.code
		w.Reason = fmt.Sprintf("%s: srun says %q", node, ended.says)
		if last := out.last(task); last != "" && ended.code > 0 {
			w.Reason = fmt.Sprintf("%s: the agent ended with %d: %s", node, ended.code, last)
		}
	case s.running():
		w.State = launcher.Running
	case s.state == "NODE_FAIL", s.state == gone:
		w.State, w.Reason = launcher.Lost, a.failure(s).Error()
	default:
		w.State, w.Code = launcher.Exited, s.code
		if s.state == "COMPLETED" || a.wasStopped() {
			w.Code = 0
			break
		}
		w.Reason = a.failure(s).Error()
	}
	return w
}

func (a *agents) wasStopped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.stopped
}

// failure is the cause of the end of the agents.
func (a *agents) failure(s status) error {
	why := s.state
	switch {
	case s.state == gone:
		why = "Slurm does not know it any more"
	case s.state == "TIMEOUT":
		why = "its time limit was reached: set a longer one with --time=MINUTES in the setting slurm.flag"
	case s.state == "NODE_FAIL":
		why = "a node failed"
	case s.state == "CANCELLED":
		why = "it was cancelled"
	case s.state == "PREEMPTED":
		why = "a job with a higher priority took its nodes"
	case s.state == "OUT_OF_MEMORY":
		why = "its memory limit was reached: set a higher one with --mem=SIZE in the setting slurm.flag"
	case s.code == 0 && s.signal == cannotWrite, s.code != 0 && !a.hasWritten():
		why = "its output file does not exist here: the session's directory (--out), " + a.r.Dir +
			", must be on a file system that all nodes share"
	case s.code != 0:
		why = fmt.Sprintf("it ended with %d", s.code)
	}
	if said := a.said(); said != "" {
		why += ": " + said
	}
	return fmt.Errorf("%s: %s", a.what, why)
}

// cannotWrite is the signal in the status of a job if Slurm cannot open its output file.
const cannotWrite = 53

func (a *agents) hasWritten() bool {
	_, err := os.Stat(a.log)
	return err == nil
}

// said is the first line of weir's own in the output, or else the last line of Slurm's.
func (a *agents) said() string {
	out, err := readOutput(a.log)
	if err != nil {
		return err.Error()
	}
	for task := range len(out.nodes) {
		for _, line := range out.of(task) {
			if why, ok := strings.CutPrefix(line, "weir: "); ok {
				return why
			}
		}
	}
	return out.own.Last()
}

// Stop tells the agents to end, waits, and kills the rest after grace: cancelling a job would leave unresponsive
// processes for Slurm's KillWait. Signals are sent to the tasks only, as srun would kill its tasks.
func (a *agents) Stop(ctx context.Context, grace time.Duration) error {
	a.mu.Lock()
	a.stopped = true
	a.mu.Unlock()
	defer os.Remove(filepath.Join(a.r.Dir, bootstrapFile))
	if a.kill != nil {
		defer a.kill()
	}
	s, err := a.status(ctx)
	switch {
	case err != nil:
		return err
	case s.over() || a.id == "":
		return nil
	}
	if err = a.end(ctx, grace, a.signal("TERM")); err == nil {
		return nil
	}
	errs := []error{fmt.Errorf("stopping the agents: %w; killing them", err)}
	if err := a.end(ctx, 3*time.Second, a.signal("KILL")); err != nil {
		_, cancelled := run(ctx, nil, "scancel", a.id)
		errs = append(errs, err, cancelled)
	}
	return errors.Join(errs...)
}

// signal sends a signal to all tasks, or cancels a job without tasks.
func (a *agents) signal(which string) func(context.Context) error {
	return func(ctx context.Context) error {
		job, _, _ := strings.Cut(a.id, ".")
		steps, err := named(ctx, name(a.r.Session), "squeue", "--noheader", "--steps", "--jobs="+job,
			"--format=%i|%j|%N")
		if err != nil {
			return err
		}
		argv := []string{"scancel"}
		if len(steps) > 0 {
			argv = append(argv, "--signal="+which)
		} else {
			steps = append(steps, queued{id: a.id})
		}
		for _, s := range steps {
			argv = append(argv, s.id)
		}
		_, err = run(ctx, nil, argv...)
		return err
	}
}

// askAgain is the interval for repeating a signal, which does not reach tasks that have not started yet.
const askAgain = 15 * time.Second

// end ends the job with ask and waits for it. An error of ask counts only if the job does not end: Slurm also
// returns one if some tasks have ended before.
func (a *agents) end(ctx context.Context, grace time.Duration, ask func(context.Context) error) error {
	refused, asked := ask(ctx), time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, grace, fmt.Errorf("%s did not end within %v", a.what, grace))
	defer cancel()
	for pause := 100 * time.Millisecond; ; pause = min(pause*5/4, time.Second) {
		s, err := a.status(ctx)
		if err == nil && s.over() {
			return nil
		}
		if err != nil {
			return errors.Join(err, refused)
		}
		if time.Since(asked) > askAgain {
			refused, asked = ask(ctx), time.Now()
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), refused)
		case <-time.After(pause):
		}
	}
}

// Reap cancels the jobs and steps of a session, but not the allocation of a step.
func (l *Launcher) Reap(ctx context.Context, session string) error {
	if err := launcher.CheckSession(session); err != nil {
		return err
	}
	user := fmt.Sprint("--user=", os.Getuid())
	jobs, err := named(ctx, name(session), "squeue", "--noheader", user, "--format=%i|%j|%N")
	steps, err2 := named(ctx, name(session), "squeue", "--noheader", "--steps", user, "--format=%i|%j|%N")
	errs := []error{err, err2}
	for _, found := range append(steps, jobs...) {
		_, err := run(ctx, nil, "scancel", found.id)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

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

	"weir/executor/launch"
)

// agents are the tasks of a job, or of a step.
type agents struct {
	r    launch.Request
	what string // how it is called in what the user reads
	log  string // file
	id   string // what scancel takes; of a step known once it runs
	look func(context.Context) (status, error)
	kill func() // what is left in this process's own hands; nil: nothing

	mu      sync.Mutex
	nodes   []string // by task, once they are known
	stopped bool
}

// see looks and remembers where the tasks are: a job that has ended may not say.
func (a *agents) see(ctx context.Context) (status, error) {
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

// Poll asks Slurm once, and reads what the agents have written.
func (a *agents) Poll(ctx context.Context) ([]launch.Worker, error) {
	s, err := a.see(ctx)
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
	workers := make([]launch.Worker, len(nodes))
	for task, node := range nodes {
		workers[task] = a.worker(s, out, task, node)
	}
	return workers, nil
}

func (a *agents) worker(s status, out *output, task int, node string) launch.Worker {
	w := launch.Worker{Node: node, Log: out.of(task)}
	ended, told := out.ended[node]
	switch {
	case s.pending():
		w.State = launch.Pending
		w.Reason, _ = explain(s.reason)
	case told:
		w.State, w.Code = launch.Exited, ended.code
		w.Reason = fmt.Sprintf("%s: srun says %q", node, ended.says)
		if last := out.last(task); last != "" && ended.code > 0 {
			w.Reason = fmt.Sprintf("%s: the agent ended with %d: %s", node, ended.code, last)
		}
	case s.running():
		w.State = launch.Running
	case s.state == "NODE_FAIL", s.state == gone:
		w.State, w.Reason = launch.Lost, a.failure(s).Error()
	default:
		w.State, w.Code = launch.Exited, s.code
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

// failure says why the agents have ended.
func (a *agents) failure(s status) error {
	why := s.state
	switch {
	case s.state == gone:
		why = "Slurm knows nothing of it any more"
	case s.state == "TIMEOUT":
		why = "its time was over: give more with --slurm-flag=--time=MINUTES"
	case s.state == "NODE_FAIL":
		why = "a node failed"
	case s.state == "CANCELLED":
		why = "it was cancelled"
	case s.state == "PREEMPTED":
		why = "a job with a higher priority took its nodes"
	case s.state == "OUT_OF_MEMORY":
		why = "it needed more memory than it may have: give more with --slurm-flag=--mem=SIZE"
	case s.code == 0 && s.signal == cannotWrite, s.code != 0 && !a.hasWritten():
		why = "its output is not here: the session's directory (--out), " + a.r.Dir +
			", must be on a file system that all nodes share"
	case s.code != 0:
		why = fmt.Sprintf("it ended with %d", s.code)
	}
	if said := a.said(); said != "" {
		why += ": " + said
	}
	return fmt.Errorf("%s: %s", a.what, why)
}

// cannotWrite is what Slurm gives as the signal of a job whose output it cannot open.
const cannotWrite = 53

func (a *agents) hasWritten() bool {
	_, err := os.Stat(a.log)
	return err == nil
}

// said is the first line of the output that has the cause: what weir itself says, or
// else the last of Slurm's.
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

// Stop tells the agents to end and waits. What is left after grace is killed: a job that
// is merely cancelled would keep what is deaf for as long as Slurm's KillWait. Signals are
// for the tasks alone, as srun would kill them because of one to itself.
func (a *agents) Stop(ctx context.Context, grace time.Duration) error {
	a.mu.Lock()
	a.stopped = true
	a.mu.Unlock()
	defer os.Remove(filepath.Join(a.r.Dir, bootstrapFile)) // nobody starts any more
	if a.kill != nil {
		defer a.kill()
	}
	s, err := a.see(ctx)
	switch {
	case err != nil:
		return err
	case s.over() || a.id == "":
		return nil
	}
	if err = a.end(ctx, grace, a.signal("TERM")); err == nil {
		return nil
	}
	errs := []error{fmt.Errorf("stopping the agents: %w, and they are killed", err)}
	if err := a.end(ctx, 3*time.Second, a.signal("KILL")); err != nil {
		_, cancelled := run(ctx, nil, "scancel", a.id)
		errs = append(errs, err, cancelled)
	}
	return errors.Join(errs...)
}

// signal sends one to all tasks; where there are none yet, the job is cancelled.
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

// askAgain is after how long a job that has not ended is asked again: a signal does not reach
// a task that a busy node has not started yet.
const askAgain = 15 * time.Second

// end asks for the end of the job in some way and waits for it. That Slurm says no
// counts only if the job does not end: it does so, too, where a signal has reached all
// tasks that were left, but those of some node had ended before.
func (a *agents) end(ctx context.Context, grace time.Duration, ask func(context.Context) error) error {
	refused, asked := ask(ctx), time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, grace, fmt.Errorf("%s did not end within %v", a.what, grace))
	defer cancel()
	for pause := 100 * time.Millisecond; ; pause = min(pause*5/4, time.Second) {
		s, err := a.see(ctx)
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

// Reap cancels the jobs and steps of a session. A step's allocation stays.
func (l *Launcher) Reap(ctx context.Context, session string) error {
	if err := launch.CheckSession(session); err != nil {
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

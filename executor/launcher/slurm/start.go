package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
)

// Pauses between polls of the queue, which increase to spare the controller.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 5 * time.Second
)

// Start returns when the job or step runs. Until then it prints the reasons. A job that can never start, or has
// waited for too long, is cancelled, and the error has the reason.
func (l *Launcher) Start(ctx context.Context, r launcher.Request) (launcher.Handle, error) {
	if err := l.Check(ctx, r); err != nil {
		return nil, err
	}
	if err := writeBootstrap(r); err != nil {
		return nil, err
	}
	submit := l.submit
	if allocation() != "" {
		submit = l.stepIn
	}
	a, err := submit(ctx, r)
	if err == nil {
		if err = a.await(ctx, l.Wait); err == nil {
			return a, nil
		}
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
		defer cancel()
		err = errors.Join(err, a.Stop(stopping, 10*time.Second))
	}
	os.Remove(filepath.Join(r.Dir, bootstrapFile))
	return nil, err
}

func environment(r launcher.Request) []string {
	var env []string
	for name, value := range r.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// submit writes and submits the batch script.
func (l *Launcher) submit(ctx context.Context, r launcher.Request) (*agents, error) {
	path := filepath.Join(r.Dir, scriptFile)
	if err := os.WriteFile(path, []byte(l.script(r)), 0o755); err != nil {
		return nil, fmt.Errorf("writing the batch script: %w", err)
	}
	// as an argument, --export overrides $SBATCH_EXPORT
	out, err := run(ctx, environment(r), "sbatch", "--parsable", "--export=ALL", path)
	if err != nil {
		return nil, fmt.Errorf("submitting %s: %w", path, err)
	}
	job, _, _ := strings.Cut(strings.TrimSpace(out), ";") // a cluster's name may follow
	if strings.Trim(job, "0123456789") != "" || job == "" {
		return nil, fmt.Errorf("submitting %s: sbatch answers %q, which is no job", path, out)
	}
	log := filepath.Join(r.Dir, "slurm-"+job+".log")
	r.Tell("Slurm job %s is submitted: %s, output in %s", job, path, log)
	return &agents{r: r, what: "Slurm job " + job, log: log, id: job,
		look: func(ctx context.Context) (status, error) { return look(ctx, job) }}, nil
}

// stepIn starts a step in weir's allocation.
func (l *Launcher) stepIn(_ context.Context, r launcher.Request) (*agents, error) {
	job := allocation()
	if len(l.Flags) > 0 {
		r.Tell("flags for sbatch are not needed within Slurm job %s: %s", job, strings.Join(l.Flags, " "))
	}
	log := filepath.Join(r.Dir, "slurm-"+job+"-step.log")
	f, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("writing the agents' output: %w", err)
	}
	defer f.Close()
	argv := stepCommand(r, job)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), environment(r)...)
	cmd.Stdout, cmd.Stderr = f, f
	// an interrupt at the terminal goes to weir alone, which ends the agents
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting srun: %w", err)
	}
	s := &step{name: name(r.Session), job: job, cmd: cmd, over: make(chan struct{})}
	go func() {
		cmd.Wait() // see cmd.ProcessState
		close(s.over)
	}()
	a := &agents{r: r, what: "the step in Slurm job " + job, log: log, look: s.look, kill: s.kill}
	return a, nil
}

// step is a running srun.
type step struct {
	name, job string
	cmd       *exec.Cmd
	over      chan struct{}
}

// look takes the state from srun itself, and the nodes from the queue.
func (s *step) look(ctx context.Context) (status, error) {
	select {
	case <-s.over:
		if code := s.cmd.ProcessState.ExitCode(); code != 0 {
			return status{state: "FAILED", code: code}, nil
		}
		return status{state: "COMPLETED"}, nil
	default:
	}
	found, err := named(ctx, s.name, "squeue", "--noheader", "--steps", "--jobs="+s.job, "--format=%i|%j|%N")
	if err != nil {
		return status{}, err
	}
	if len(found) == 0 {
		return status{state: "PENDING", reason: "Resources"}, nil
	}
	last := found[len(found)-1]
	return status{state: "RUNNING", nodes: hosts(last.nodes), step: last.id}, nil
}

func (s *step) kill() {
	select {
	case <-s.over:
	default:
		syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		<-s.over
	}
}

// settling is the time limit for the final state of a COMPLETING job.
const settling = 5 * time.Second

// await waits until the agents run.
func (a *agents) await(ctx context.Context, limit time.Duration) error {
	begin, pause, last := time.Now(), firstPause, ""
	var ended time.Time
	for {
		s, err := a.status(ctx)
		if err != nil {
			return fmt.Errorf("waiting for %s: %w", a.what, err)
		}
		text, hopeless := explain(s.reason)
		if s.state == "COMPLETING" && ended.IsZero() {
			ended = time.Now()
		}
		switch {
		case s.running():
			a.r.Tell("%s runs on %s", a.what, strings.Join(s.nodes, " "))
			return nil
		case s.state == "COMPLETING" && time.Since(ended) < settling:
		case !s.pending():
			return a.failure(s)
		case hopeless:
			return fmt.Errorf("%s cannot start: %s", a.what, text)
		case limit > 0 && time.Since(begin) > limit:
			return fmt.Errorf("%s has waited for %v: %s; give it more time with --wait", a.what, limit, text)
		case text != last && s.reason != "":
			a.r.Tell("%s waits: %s", a.what, text)
			last = text
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", a.what, context.Cause(ctx))
		case <-time.After(pause):
			pause = min(pause*5/4, longestPause)
		}
	}
}

// Package slurm starts agents with Slurm's own commands: as a step of the allocation
// that weir runs in (salloc, or a batch script), and otherwise as a job of its own, from
// one batch script, which is kept and can be read, edited and submitted by hand.
//
// One task on each node becomes the agent. What all of them need to know lies in a file
// that only its owner can read, on a file system that all nodes share, as sites with
// Slurm have. What they write comes labelled into one file, the job's output.
//
// Slurm's accounting is not needed, nor anything else that sites may not have. The queue
// is read as text: the JSON of squeue has changed with almost every version, and some of
// them answer a question about one job with the whole queue.
package slurm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"weir/executor/launch"
	"weir/executor/trust"
)

// Launcher starts agents through Slurm.
type Launcher struct {
	Flags []string      // for sbatch, as it takes them: "--partition=gpu", "-A project"
	Wait  time.Duration // how long the job may wait in the queue; 0: as long as it takes
	// Allocation is the job that weir runs in; "": that of SLURM_JOB_ID, if there is one.
	Allocation string
}

// Files in the request's directory.
const (
	bootstrapFile = "slurm-bootstrap.json"
	scriptFile    = "slurm.sbatch"
)

// name is that of the session's jobs and steps, by which they are found again.
func name(session string) string { return "weir-" + session }

func (l *Launcher) allocation() string {
	if l.Allocation != "" {
		return l.Allocation
	}
	return os.Getenv("SLURM_JOB_ID")
}

// ours are the options of sbatch that weir sets itself.
var ours = []string{
	"-N", "--nodes", "-n", "--ntasks", "--ntasks-per-node", "-J", "--job-name", "-o", "--output", "-e", "--error", "-a",
	"--array", "--wrap",
	"--parsable", "--export", "--requeue", "--no-requeue", "--open-mode", "-i", "--input", "-W", "--wait", "-M",
	"--clusters", "-D", "--chdir", "--test-only",
}

func checkFlag(f string) error {
	option, _, _ := strings.Cut(strings.Fields(f + " ")[0], "=")
	switch {
	case len(option) < 2 || option[0] != '-' || option == "--":
		return fmt.Errorf("flag %q for sbatch: must be an option as sbatch takes it, like --partition=gpu", f)
	case strings.ContainsFunc(f, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return fmt.Errorf("flag %q for sbatch: must be one line", f)
	case slices.Contains(ours, option), option[1] != '-' && slices.Contains(ours, option[:2]):
		return fmt.Errorf("flag %q for sbatch: weir sets %s itself", f, option)
	}
	return nil
}

// Check says what is wrong with the request, or missing, or that Slurm's controller
// does not answer.
func (l *Launcher) Check(ctx context.Context, r launch.Request) error {
	if err := r.Check(); err != nil {
		return err
	}
	if !filepath.IsAbs(r.Dir) {
		return fmt.Errorf("directory %q of the session: must be absolute", r.Dir)
	}
	for _, f := range l.Flags {
		if strings.TrimSpace(f) == "" {
			return errors.New("an empty flag for sbatch")
		}
		if err := checkFlag(f); err != nil {
			return err
		}
	}
	needed := []string{"scancel", "squeue", "scontrol", "sbatch", "srun"}
	for _, program := range needed {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("agents by Slurm: %w: run weir where Slurm's commands are, on a login node or in a job",
				err)
		}
	}
	if l.allocation() == "" && r.Nodes == 0 {
		return errors.New("agents by Slurm: the number of nodes is missing (cluster.nodes in the scenario), as there is no allocation that weir runs in")
	}
	if _, err := run(ctx, nil, "scontrol", "ping"); err != nil {
		return fmt.Errorf("the controller of Slurm does not answer: %w", err)
	}
	return l.checkAllocation(r)
}

// checkAllocation holds the number of nodes to those that there are.
func (l *Launcher) checkAllocation(r launch.Request) error {
	has, err := strconv.Atoi(os.Getenv("SLURM_JOB_NUM_NODES"))
	if l.allocation() != "" && err == nil && r.Nodes > has {
		return fmt.Errorf("agents by Slurm: %d nodes are asked for, and job %s, in which weir runs, has %d", r.Nodes,
			l.allocation(), has)
	}
	return nil
}

// Render shows the batch script, or within an allocation the step.
func (l *Launcher) Render(r launch.Request) ([]launch.File, error) {
	for _, f := range l.Flags {
		if err := checkFlag(f); err != nil {
			return nil, err
		}
	}
	if job := l.allocation(); job != "" {
		text := "#!/bin/sh\n# Within job " + job + ", as a step of it.\nexec " +
			launch.ShellCommand(l.step(r, job)...) + "\n"
		return []launch.File{{Name: "slurm-step.sh", Mode: 0o755, Text: []byte(text)}}, nil
	}
	return []launch.File{{Name: scriptFile, Mode: 0o755, Text: []byte(l.script(r))}}, nil
}

// guard is run by a shell on each node before the agent, as these two failures would
// otherwise be told by nobody.
const guard = `[ -x "$0" ] || { echo "weir: $SLURMD_NODENAME has no program $0: put weir where all nodes see it" >&2; exit 66; }
[ -r "$3" ] || { echo "weir: $SLURMD_NODENAME cannot read $3: the session's directory (--out) must be on a file system that all nodes share" >&2; exit 66; }
exec "$0" "$@"`

// srun is the step that is the agents. One that ends leaves the others alone: whether
// the session goes on without it is weir's to judge.
func srun(r launch.Request, more ...string) []string {
	argv := append([]string{"srun"}, more...)
	argv = append(argv, "--ntasks-per-node=1", "--job-name="+name(r.Session), "--label", "--input=none",
		"--kill-on-bad-exit=0", "--wait=0", "--no-kill",
		"--mpi=none", "--cpu-bind=none", "--export=ALL", "/bin/sh", "-c", guard, r.Binary)
	return append(argv, r.AgentArguments(filepath.Join(r.Dir, bootstrapFile))...)
}

func (l *Launcher) step(r launch.Request, job string) []string {
	more := []string{"--jobid=" + job, "--overlap"}
	if r.Nodes > 0 {
		more = append(more, "--nodes="+strconv.Itoa(r.Nodes), "--ntasks="+strconv.Itoa(r.Nodes))
	}
	return srun(r, more...)
}

func (l *Launcher) script(r launch.Request) string {
	var s strings.Builder
	s.WriteString("#!/bin/sh\n")
	options := []string{
		"--job-name=" + name(r.Session), "--nodes=" + strconv.Itoa(r.Nodes), "--ntasks-per-node=1", "--no-requeue",
		"--no-kill", "--open-mode=append",
		"--output=" + strings.ReplaceAll(r.Dir, "%", "%%") + "/slurm-%j.log",
		"--signal=TERM@30", // agents end in order before the job's time is over
	}
	for _, o := range append(options, l.Flags...) {
		s.WriteString("#SBATCH " + directive(o) + "\n")
	}
	if len(r.Env) > 0 {
		fmt.Fprintf(&s, "# The environment of sbatch must have %s.\n",
			strings.Join(slices.Sorted(maps.Keys(r.Env)), ", "))
	}
	s.WriteString("exec " + launch.ShellCommand(srun(r)...) + "\n")
	return s.String()
}

// directive is an option as sbatch reads it from a script, where quotes keep a value
// together. One that is written with a space is the user's to quote.
func directive(option string) string {
	before, value, ok := strings.Cut(option, "=")
	if !ok || strings.Contains(before, " ") || !strings.ContainsAny(value, " \t#'\"\\") {
		return option
	}
	return before + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// writeBootstrap puts the document where all nodes can read it and no other user.
func writeBootstrap(r launch.Request) error {
	b, err := r.Bootstrap(trust.AnyNode)
	if err != nil {
		return err
	}
	text, err := b.Encode()
	if err != nil {
		return err
	}
	path := filepath.Join(r.Dir, bootstrapFile)
	os.Remove(path) // of a session that was cut off; if it stays, the next line says so
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("writing the agents' bootstrap: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the agents' bootstrap: %w", err)
	}
	return nil
}

// run runs one of Slurm's commands and gives its output. Its errors have what it says.
func run(ctx context.Context, env []string, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	said := &launch.Lines{}
	cmd.Stderr = said
	out, err := cmd.Output()
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil && said.Last() != "":
		return "", fmt.Errorf("%s says %q", argv[0], said.Last())
	case err != nil:
		return "", fmt.Errorf("%s: %w", argv[0], err)
	}
	return string(out), nil
}

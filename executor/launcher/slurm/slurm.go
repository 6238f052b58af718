// Package slurm starts agents with Slurm's own commands: as a step of the allocation in which weir runs
// (salloc, or a batch script), and otherwise as a job with a batch script, which is kept and can be submitted
// by hand.
//
// One task per node is the agent. The bootstrap document is in a file with mode 0600 on a shared file system.
// The output of all tasks goes to the job's output file, with labels.
//
// Slurm's accounting is not needed. The queue is read as text: squeue's JSON changes with almost every
// version, and some versions return the full queue for a question about one job.
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

	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/launcher"
)

// Launcher starts agents through Slurm.
type Launcher struct {
	Flags []string      // for sbatch: "--partition=gpu", "-A project"
	Wait  time.Duration // time limit in the queue; 0: none
}

// Files in the request's directory.
const (
	bootstrapFile = "slurm-bootstrap.json"
	scriptFile    = "slurm.sbatch"
)

// name is the name of the session's jobs and steps.
func name(session string) string { return "weir-" + session }

// allocation is the job in which weir runs, or "".
func allocation() string { return os.Getenv("SLURM_JOB_ID") }

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

// Check validates the request, and checks that Slurm's controller answers.
func (l *Launcher) Check(ctx context.Context, r launcher.Request) error {
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
			return fmt.Errorf("agents by Slurm: %w: run weir on a login node or in a job, with Slurm's commands in PATH",
				err)
		}
	}
	if allocation() == "" && r.Nodes == 0 {
		return errors.New("agents by Slurm: the number of nodes is missing (cluster.nodes in the scenario), as weir runs in no allocation")
	}
	if _, err := run(ctx, nil, "scontrol", "ping"); err != nil {
		return fmt.Errorf("the controller of Slurm does not answer: %w: run weir on a login node or in a job", err)
	}
	return checkAllocation(r)
}

// checkAllocation checks that the allocation has enough nodes.
func checkAllocation(r launcher.Request) error {
	has, err := strconv.Atoi(os.Getenv("SLURM_JOB_NUM_NODES"))
	if allocation() != "" && err == nil && r.Nodes > has {
		return fmt.Errorf("agents by Slurm: %d nodes are needed, and job %s, in which weir runs, has %d", r.Nodes,
			allocation(), has)
	}
	return nil
}

// guard is a shell script that starts the agent on each node, after checks for two failures without a message
// of their own.
const guard = `[ -x "$0" ] || { echo "weir: $SLURMD_NODENAME has no program $0: put weir where all nodes see it" >&2; exit 66; }
[ -r "$3" ] || { echo "weir: $SLURMD_NODENAME cannot read $3: the session's directory (--out) must be on a file system that all nodes share" >&2; exit 66; }
exec "$0" "$@"`

// srun is the command line of the agents' step. The end of one agent does not end the others: weir decides
// whether the session continues.
func srun(r launcher.Request, more ...string) []string {
	argv := append([]string{"srun"}, more...)
	argv = append(argv, "--ntasks-per-node=1", "--job-name="+name(r.Session), "--label", "--input=none",
		"--kill-on-bad-exit=0", "--wait=0", "--no-kill",
		"--mpi=none", "--cpu-bind=none", "--export=ALL", "/bin/sh", "-c", guard, r.Binary)
	return append(argv, r.AgentArguments(filepath.Join(r.Dir, bootstrapFile))...)
}

func stepCommand(r launcher.Request, job string) []string {
	more := []string{"--jobid=" + job, "--overlap"}
	if r.Nodes > 0 {
		more = append(more, "--nodes="+strconv.Itoa(r.Nodes), "--ntasks="+strconv.Itoa(r.Nodes))
	}
	return srun(r, more...)
}

func (l *Launcher) script(r launcher.Request) string {
	var s strings.Builder
	s.WriteString("#!/bin/sh\n")
	options := []string{
		"--job-name=" + name(r.Session), "--nodes=" + strconv.Itoa(r.Nodes), "--ntasks-per-node=1", "--no-requeue",
		"--no-kill", "--open-mode=append",
		"--output=" + strings.ReplaceAll(r.Dir, "%", "%%") + "/slurm-%j.log",
		"--signal=TERM@30", // agents end before the job's time limit
	}
	for _, o := range append(options, l.Flags...) {
		s.WriteString("#SBATCH " + directive(o) + "\n")
	}
	if len(r.Env) > 0 {
		fmt.Fprintf(&s, "# The environment of sbatch must have %s.\n",
			strings.Join(slices.Sorted(maps.Keys(r.Env)), ", "))
	}
	s.WriteString("exec " + launcher.ShellCommand(srun(r)...) + "\n")
	return s.String()
}

// directive quotes the value of an option for a #SBATCH line. Options with a space are quoted by the user.
func directive(option string) string {
	before, value, ok := strings.Cut(option, "=")
	if !ok || strings.Contains(before, " ") || !strings.ContainsAny(value, " \t#'\"\\") {
		return option
	}
	return before + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// writeBootstrap writes the document into the session's directory, with mode 0600.
func writeBootstrap(r launcher.Request) error {
	b, err := r.Bootstrap(link.AnyNode)
	if err != nil {
		return err
	}
	text, err := b.Encode()
	if err != nil {
		return err
	}
	path := filepath.Join(r.Dir, bootstrapFile)
	os.Remove(path) // of an interrupted session; OpenFile reports a failure
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

// run runs one of Slurm's commands and returns its output. Errors have the last line of its stderr.
func run(ctx context.Context, env []string, argv ...string) (string, error) {
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	said := &launcher.Lines{}
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

package launcher

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/internal/printable"
)

// Asked reports whether a flag or the file of --launcher-config names a launcher; a site does not count.
func (f *Flags) Asked() bool { return f.launcher != "" || f.config.file != "" || len(f.hosts) > 0 }

// Reap ends the leftovers of sessions without a coordinator: agents and ranks on ssh hosts, Slurm jobs
// and steps, Kubernetes objects.
func (f *Flags) Reap(ctx context.Context, sessions []string, w io.Writer) error {
	for _, session := range sessions {
		if err := launcher.CheckSession(session); err != nil {
			return exit.Usage("%w", err)
		}
	}
	l, name, err := f.reaper()
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if err := l.Reap(ctx, session); err != nil {
			return exit.Execution(fmt.Errorf("ending the leftovers of session %s: %w", session, err))
		}
		fmt.Fprintf(w, "session %s has no leftovers with launcher %s\n", printable.Text(session), name)
	}
	return nil
}

func (f *Flags) reaper() (l launcher.Reaper, name string, err error) {
	name = f.launcher
	if name == "" && len(f.hosts) > 0 {
		name = SSH
	}
	switch name {
	case SSH:
		if len(f.hosts) == 0 {
			return nil, "", exit.Usage("--launcher ssh needs --hosts: the hosts of the session's agents")
		}
		l, err = f.config.ssh.Launcher(f.hosts)
	case Slurm:
		l = f.config.slurm.Launcher(f.hosts)
	case Kubernetes:
		l = f.config.kube.Reaper()
	default:
		return nil, "", exit.Usage("--launcher %s: only %s start agents that may leave something behind", name,
			strings.Join([]string{SSH, Slurm, Kubernetes}, ", "))
	}
	if err != nil {
		return nil, "", exit.Usage("%w", err)
	}
	return l, name, nil
}

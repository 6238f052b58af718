package launcher

import (
	"context"
	"fmt"
	"io"
	"strings"

	"weir/cmd/weir/exit"
	"weir/executor/launch"
	"weir/printable"
)

// Asked says whether a launcher was asked for, by a flag or a file; a site alone asks for none.
func (f *Flags) Asked() bool { return f.launcher != "" || f.config.file != "" || len(f.hosts) > 0 }

// Reap ends what killed coordinators have left of sessions with their launcher: agents and ranks
// on hosts of ssh, jobs and steps of Slurm, objects of Kubernetes.
func (f *Flags) Reap(ctx context.Context, sessions []string, w io.Writer) error {
	for _, session := range sessions {
		if err := launch.CheckSession(session); err != nil {
			return exit.Usage("%w", err)
		}
	}
	l, name, err := f.reaper()
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if err := l.Reap(ctx, session); err != nil {
			return exit.Execution(fmt.Errorf("ending what is left of session %s: %w", session, err))
		}
		fmt.Fprintf(w, "nothing is left of session %s with launcher %s\n", printable.Text(session), name)
	}
	return nil
}

func (f *Flags) reaper() (l launch.Reaper, name string, err error) {
	name = f.launcher
	if name == "" && len(f.hosts) > 0 {
		name = SSH
	}
	switch name {
	case SSH:
		if len(f.hosts) == 0 {
			return nil, "", exit.Usage("--launcher ssh needs --hosts: where the session's agents were")
		}
		l, err = f.ssh.Launcher(f.hosts)
	case Slurm:
		l = f.slurm.Launcher(f.hosts)
	case Kubernetes:
		l = f.kube.Reaper()
	default:
		return nil, "", exit.Usage("--launcher %s: only %s start agents that could be left behind", name,
			strings.Join([]string{SSH, Slurm, Kubernetes}, ", "))
	}
	if err != nil {
		return nil, "", exit.Usage("%w", err)
	}
	return l, name, nil
}

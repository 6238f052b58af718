package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/access"
	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/launcher"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/internal/suggest"
)

func newClean() *cobra.Command {
	var f access.Etcd
	var site launcher.SiteFlag
	var launchers launcher.Flags
	dry := false
	cmd := &cobra.Command{
		Use:   "clean [SESSION…]",
		Short: "remove leftovers of sessions without a coordinator",
		Long: `clean removes the etcd keys of sessions without a coordinator: of all such sessions,
or of the named ones. It never touches a running session. It is rarely needed: keys
expire with the process that wrote them, 20 seconds after it was killed.

With --launcher, clean ends the agents and ranks of the named sessions: on ssh hosts,
Slurm jobs, or Kubernetes objects (label weir.dev/session). Agents normally end with
their coordinator; this is for agents that could not, such as on a host that was
cut off. A launcher does not know whether a coordinator is alive: name only sessions
that are over. The settings of launchers are the same as for weir run
(--launcher-config, --site).`,
		Example: `  weir cluster clean --etcd http://127.0.0.1:2379 --dry-run
  weir cluster clean --etcd http://127.0.0.1:2379 20261121-101500-quickstart-3f9a
  weir cluster clean --hosts 'gpu[01-16]' 20261121-101500-quickstart-3f9a
  weir cluster clean --launcher kubernetes --kube-namespace perf 20261121-101500-quickstart-3f9a`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if launchers.Asked() {
				return reap(cmd, &f, &launchers, &site, args, dry)
			}
			return f.Directory(cmd.Context(), func(d *registry.Directory) error {
				return clean(cmd.Context(), d, args, dry, screen.Text(cmd.OutOrStdout()))
			})
		},
	}
	f.Add(cmd.Flags(), "`URLS` of the etcd")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only print what would be removed from etcd")
	launchers.AddLaunchers(cmd.Flags())
	launchers.HideSettings()
	site.Add(cmd.Flags())
	return cmd
}

// reap ends the agents and ranks of sessions through their launcher, and then removes their keys if an
// etcd is given.
func reap(cmd *cobra.Command, f *access.Etcd, launchers *launcher.Flags, site *launcher.SiteFlag, sessions []string,
	dry bool) error {
	switch {
	case len(sessions) == 0:
		return exit.Usage("which sessions? Name them: a launcher does not know which sessions are over")
	case dry:
		return exit.Usage("--dry-run is for etcd alone: it cannot be used with a launcher")
	}
	known, err := site.Read()
	if err != nil {
		return err
	}
	if err := launchers.Choose(known); err != nil {
		return err
	}
	config, err := f.Config()
	if err != nil {
		return err
	}
	if len(config.Endpoints) == 0 {
		return launchers.Reap(cmd.Context(), sessions, screen.Text(cmd.OutOrStdout()))
	}
	return f.Directory(cmd.Context(), func(d *registry.Directory) error {
		all, err := d.Sessions(cmd.Context())
		if err != nil {
			return err
		}
		var left []string
		for _, s := range all {
			switch {
			case !slices.Contains(sessions, s.ID):
			case s.About != nil:
				return errRunning(s)
			default:
				left = append(left, s.ID)
			}
		}
		out := screen.Text(cmd.OutOrStdout())
		if err := launchers.Reap(cmd.Context(), sessions, out); err != nil || len(left) == 0 {
			return err
		}
		return clean(cmd.Context(), d, left, false, out)
	})
}

func errRunning(s registry.SessionInfo) error {
	by, _, _ := member{About: aboutOf(s.About)}.by()
	return exit.Usage("session %s is running (%s): stop it there, with Ctrl-C or SIGTERM", printable(s.ID),
		printable(by))
}

func clean(ctx context.Context, d *registry.Directory, wanted []string, dry bool, w io.Writer) error {
	all, err := d.Sessions(ctx)
	if err != nil {
		return err
	}
	if err := checkRemovable(all, wanted); err != nil {
		return err
	}
	removed := 0
	for _, s := range all {
		if s.About != nil || len(wanted) > 0 && !slices.Contains(wanted, s.ID) {
			continue
		}
		keys, did := s.Keys, "would remove"
		if !dry {
			did = "removed"
			if keys, err = d.Remove(ctx, s.ID); errors.Is(err, registry.ErrLive) {
				continue // it has just started
			}
			if err != nil {
				return err
			}
		}
		removed++
		fmt.Fprintf(w, "%s session %s: keys: %d\n", did, printable(s.ID), keys)
	}
	if removed == 0 {
		fmt.Fprintln(w, "nothing to remove")
	}
	return nil
}

// checkRemovable refuses names of sessions that do not exist or have a coordinator.
func checkRemovable(all []registry.SessionInfo, wanted []string) error {
	var names []string
	for _, s := range all {
		names = append(names, s.ID)
	}
	for _, name := range wanted {
		i := slices.Index(names, name)
		if i < 0 {
			return exit.Usage("there is no session %q%s", name, suggest.DidYouMean(name, names))
		}
		if all[i].About != nil {
			return errRunning(all[i])
		}
	}
	return nil
}

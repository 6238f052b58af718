package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"weir/cmd/weir/access"
	"weir/cmd/weir/exit"
	"weir/cmd/weir/launcher"
	"weir/cmd/weir/screen"
	"weir/executor/cluster"
	"weir/suggest"
)

func newClean() *cobra.Command {
	var f access.Etcd
	var at launcher.SiteFlag
	var who launcher.Flags
	dry := false
	cmd := &cobra.Command{
		Use:   "clean [SESSION…]",
		Short: "remove what sessions without a coordinator have left",
		Long: `clean removes the keys of sessions whose coordinator is gone: of all of them, or of
those that are named. A session that is running is never touched. Nothing needs
this: what a process has written goes with it, after 20 seconds if it was killed.

With --launcher it ends what is left of the named sessions where that launcher has started
agents: on hosts of ssh, as jobs of Slurm, as objects of Kubernetes (the label weir.dev/session
has the session). Agents end by themselves when their coordinator is gone; this is for those
that could not, as on a host that was cut off. A launcher does not know whether a coordinator
is alive: name only sessions that are over. It takes the launchers' own flags, as weir run
--help lists them.`,
		Example: `  weir cluster clean --etcd http://127.0.0.1:2379 --dry-run
  weir cluster clean --etcd http://127.0.0.1:2379 20261121-101500-quickstart-3f9a
  weir cluster clean --hosts 'gpu[01-16]' 20261121-101500-quickstart-3f9a
  weir cluster clean --launcher kubernetes --kube-namespace perf 20261121-101500-quickstart-3f9a`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if who.Asked() {
				return reap(cmd, &f, &who, &at, args, dry)
			}
			return f.Directory(cmd.Context(), func(d *cluster.Directory) error {
				return clean(cmd.Context(), d, args, dry, screen.Text(cmd.OutOrStdout()))
			})
		},
	}
	f.Add(cmd.Flags(), "`URLS` of the etcd")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed from etcd")
	who.AddLaunchers(cmd.Flags())
	who.HideSettings()
	at.Add(cmd.Flags())
	return cmd
}

// reap ends what a launcher has of sessions, and then removes their keys, where an etcd is given.
func reap(cmd *cobra.Command, f *access.Etcd, who *launcher.Flags, at *launcher.SiteFlag, sessions []string,
	dry bool) error {
	switch {
	case len(sessions) == 0:
		return exit.Usage("which sessions? A launcher does not know which are over: name them, as their results do")
	case dry:
		return exit.Usage("--dry-run is for etcd: a launcher only looks for a session's agents in order to end them")
	}
	site, err := at.Read()
	if err != nil {
		return err
	}
	if err := who.Choose(site); err != nil {
		return err
	}
	config, err := f.Config()
	if err != nil {
		return err
	}
	if len(config.Endpoints) == 0 {
		return who.Reap(cmd.Context(), sessions, screen.Text(cmd.OutOrStdout()))
	}
	return f.Directory(cmd.Context(), func(d *cluster.Directory) error {
		all, err := d.Sessions(cmd.Context())
		if err != nil {
			return err
		}
		var known []string
		for _, s := range all {
			switch {
			case !slices.Contains(sessions, s.ID):
			case s.About != nil:
				return running(s)
			default:
				known = append(known, s.ID)
			}
		}
		if err := who.Reap(cmd.Context(), sessions, screen.Text(cmd.OutOrStdout())); err != nil || len(known) == 0 {
			return err
		}
		return clean(cmd.Context(), d, known, false, screen.Text(cmd.OutOrStdout()))
	})
}

func running(s cluster.SessionInfo) error {
	by, _, _ := member{About: aboutOf(s.About)}.by()
	return exit.Usage("session %s is running (%s): stop it there, by Ctrl-C or SIGTERM", harmless(s.ID), harmless(by))
}

func clean(ctx context.Context, d *cluster.Directory, wanted []string, dry bool, w io.Writer) error {
	all, err := d.Sessions(ctx)
	if err != nil {
		return err
	}
	if err := removable(all, wanted); err != nil {
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
			if keys, err = d.Remove(ctx, s.ID); errors.Is(err, cluster.ErrLive) {
				continue // it has only just begun
			}
			if err != nil {
				return err
			}
		}
		removed++
		fmt.Fprintf(w, "%s session %s: keys: %d\n", did, harmless(s.ID), keys)
	}
	if removed == 0 {
		fmt.Fprintln(w, "nothing to remove")
	}
	return nil
}

// removable says whether all sessions that are named are there, and without coordinator.
func removable(all []cluster.SessionInfo, wanted []string) error {
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
			return running(all[i])
		}
	}
	return nil
}

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
	"weir/dsl/suggest"
	"weir/executor/cluster"
)

func newClean() *cobra.Command {
	var f access.Etcd
	dry := false
	cmd := &cobra.Command{
		Use:   "clean [SESSION…]",
		Short: "remove what sessions without a coordinator have left in an etcd",
		Long: `clean removes the keys of sessions whose coordinator is gone: of all of them, or of
those that are named. A session that is running is never touched. Nothing needs
this: what a process has written goes with it, after 20 seconds if it was killed.`,
		Example: `  weir cluster clean --etcd http://127.0.0.1:2379 --dry-run
  weir cluster clean --etcd http://127.0.0.1:2379 20261121-101500-quickstart-3f9a`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.Directory(cmd.Context(), func(d *cluster.Directory) error {
				return clean(cmd.Context(), d, args, dry, cmd.OutOrStdout())
			})
		},
	}
	f.Add(cmd.Flags(), "`URLS` of the etcd")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "only say what would be removed")
	return cmd
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
			by, _, _ := member{About: aboutOf(all[i].About)}.by()
			return exit.Usage("session %s is running (%s): stop it there, by Ctrl-C or SIGTERM", name, harmless(by))
		}
	}
	return nil
}

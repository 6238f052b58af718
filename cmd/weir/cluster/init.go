package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"weir/cmd/weir/access"
	"weir/cmd/weir/exit"
	"weir/executor/trust"
	"weir/gate"
)

// life is how long an authority and its coordinator's certificate last: a
// certificate that ends while nobody thinks of it stops everything, and whoever has
// the authority's key can make others anyway.
const life = 10 * 365 * 24 * time.Hour

func newInit() *cobra.Command {
	return &cobra.Command{
		Use:   "init [DIR]",
		Short: "make a certificate authority and the coordinator's certificate",
		Long: `init makes the files by which the coordinator (weir run) and agents that were started
by hand know each other: ca.pem and ca.key, a certificate authority, and
coordinator.pem and coordinator.key, a certificate of it. They go to DIR, which is
weir/cluster in $XDG_CONFIG_HOME or ~/.config unless it is given. Nothing is replaced.

Both .key files are secrets: who has coordinator.key can make every agent run what it
lets run, and who has ca.key can be any coordinator and any agent.`,
		Example: `  weir cluster init
  weir cluster init /srv/weir/cluster`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := dirOrDefault(args)
			if err == nil {
				err = initCluster(dir)
			}
			if err != nil {
				return exit.With(gate.ExitUsage, err)
			}
			where := ""
			if len(args) > 0 {
				where = " --dir " + dir
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), nextSteps, dir, time.Now().Add(life).UTC().Format("2 January 2006"),
				where)
			return exit.With(gate.ExitExecution, err)
		},
	}
}

func dirOrDefault(args []string) (string, error) {
	if len(args) > 0 && args[0] != "" {
		return args[0], nil
	}
	return access.ClusterDir()
}

func initCluster(dir string) error {
	for _, name := range []string{"ca", access.CoordinatorFiles} {
		for _, ext := range []string{".pem", ".key"} {
			path := filepath.Join(dir, name+ext)
			if _, err := os.Lstat(path); err == nil {
				return fmt.Errorf("%s is there already: give another DIR, or remove the old cluster's files, after which its agents must join again",
					path)
			}
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("naming the coordinator: %w", err)
	}
	authority, err := trust.NewAuthority("weir on "+host, life)
	if err != nil {
		return err
	}
	coordinator, err := authority.Issue(trust.Coordinator, host, life)
	if err != nil {
		return err
	}
	if err := authority.Save(dir); err != nil {
		return err
	}
	if err := coordinator.Save(dir, access.CoordinatorFiles); err != nil {
		return errors.Join(err, os.Remove(filepath.Join(dir, "ca.key")), os.Remove(filepath.Join(dir, "ca.pem")))
	}
	return nil
}

const nextSteps = `Made a certificate authority and a coordinator's certificate in %s:
  ca.pem           public: everybody here knows the others by it
  ca.key           secret: makes coordinators and agents; it stays here
  coordinator.pem  public
  coordinator.key  secret: weir run shows by it that it may say what agents do
All of it ends on %s.

Next:
  1. here, a token with which nodes join:  weir cluster token%s --out join.token
  2. on each node, with a copy of that:    weir agent --etcd URLS --join join.token
  3. here:                                 weir run --etcd URLS SCENARIO
`

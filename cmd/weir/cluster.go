package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"weir/executor/trust"
	"weir/gate"
)

const (
	// clusterLife is how long an authority and its coordinator's certificate last: a
	// certificate that ends while nobody thinks of it stops everything, and whoever has
	// the authority's key can make others anyway.
	clusterLife = 10 * 365 * 24 * time.Hour
	// coordinatorFiles are called so, with .pem and .key.
	coordinatorFiles = "coordinator"
)

// clusterDir is where the authority of this user's cluster is.
func clusterDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no place for a cluster's files by default, so give a directory: %w", err)
	}
	return filepath.Join(dir, "weir", "cluster"), nil
}

func newClusterInit() *cobra.Command {
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
				return withCode(gate.ExitUsage, err)
			}
			where := ""
			if len(args) > 0 {
				where = " --dir " + dir
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), nextSteps, dir, time.Now().Add(clusterLife).UTC().Format("2 January 2006"), where)
			return withCode(gate.ExitExecution, err)
		},
	}
}

func dirOrDefault(args []string) (string, error) {
	if len(args) > 0 && args[0] != "" {
		return args[0], nil
	}
	return clusterDir()
}

func initCluster(dir string) error {
	for _, name := range []string{"ca", coordinatorFiles} {
		for _, ext := range []string{".pem", ".key"} {
			path := filepath.Join(dir, name+ext)
			if _, err := os.Lstat(path); err == nil {
				return fmt.Errorf("%s is there already: give another DIR, or remove the old cluster's files, after which its agents must join again", path)
			}
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return fmt.Errorf("naming the coordinator: %w", err)
	}
	authority, err := trust.NewAuthority("weir on "+host, clusterLife)
	if err != nil {
		return err
	}
	coordinator, err := authority.Issue(trust.Coordinator, host, clusterLife)
	if err != nil {
		return err
	}
	if err := authority.Save(dir); err != nil {
		return err
	}
	if err := coordinator.Save(dir, coordinatorFiles); err != nil {
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

type tokenFlags struct {
	dir, node, out string
	ttl            time.Duration
}

func newClusterToken() *cobra.Command {
	var f tokenFlags
	cmd := &cobra.Command{
		Use:   "token",
		Short: "make a token with which an agent joins the cluster",
		Long: `token prints a join token, one line: weir agent --join gets a certificate for it, as
often as it likes until the token expires, and then needs it no more. It is a secret:
who has it can join as the node that it is for, or as any node without --node. The
token goes to standard output and nothing else does, or to a file that only you can
read.`,
		Example: `  weir cluster token --out join.token
  weir cluster token --node gpu-07 --ttl 10m | ssh gpu-07 'umask 077; cat > join.token'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.OutOrStdout(), cmd.ErrOrStderr()) },
	}
	s := cmd.Flags()
	s.SortFlags = false
	s.DurationVar(&f.ttl, "ttl", 24*time.Hour, "it expires after `TIME`")
	s.StringVar(&f.node, "node", "", "`NAME` of the only node that may join with it (default any)")
	s.StringVarP(&f.out, "out", "o", "", "new `FILE` for it (default standard output)")
	s.StringVar(&f.dir, "dir", "", "`DIR` of weir cluster init")
	return cmd
}

func (f *tokenFlags) run(stdout, stderr io.Writer) error {
	dir, err := dirOrDefault([]string{f.dir})
	if err != nil {
		return withCode(gate.ExitUsage, err)
	}
	authority, err := trust.LoadAuthority(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return wrongUsage("there is no cluster in %s: make one with \"weir cluster init\", or say where it is with --dir (%w)", dir, err)
	}
	if err != nil {
		return withCode(gate.ExitUsage, err)
	}
	token, err := authority.Token(f.ttl, f.node)
	if err != nil {
		return withCode(gate.ExitUsage, err)
	}
	if f.out == "" {
		_, err = fmt.Fprintln(stdout, token)
		return withCode(gate.ExitExecution, err)
	}
	if err := trust.WriteNew(f.out, []byte(token+"\n"), 0o600); err != nil {
		return wrongUsage("writing the token: %w", err)
	}
	node := "any node"
	if f.node != "" {
		node = "node " + f.node
	}
	fmt.Fprintf(stderr, "%s: lets %s join until %s\n", f.out, node, time.Now().Add(f.ttl).UTC().Format("2 January 2006 15:04 UTC"))
	return nil
}

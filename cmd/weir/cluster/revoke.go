package cluster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"weir/cmd/weir/access"
	"weir/cmd/weir/exit"
	"weir/executor/trust"
	"weir/gate"
)

type revokeFlags struct {
	dir        string
	keepTokens bool
}

func newRevoke() *cobra.Command {
	var f revokeFlags
	cmd := &cobra.Command{
		Use:   "revoke NODE...",
		Short: "let agents of nodes that are not to be trusted any more in no session",
		Long: `revoke takes back the certificates that agents of the nodes have, and all join tokens
that were made until now, as whoever had the node may have read one; --keep-tokens
leaves tokens as they are. Agents that have joined need no token, and other nodes'
stay. Sessions that begin from now on see it, those that run do not.

It is written to the file "revoked" in the cluster's directory, beside ca.pem: copy it
to other hosts that start sessions. A node that is well again joins with a new token
and an empty state directory.`,
		Example: `  weir cluster revoke gpu-07
  weir cluster revoke gpu-07 gpu-08 --keep-tokens`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, nodes []string) error { return f.run(cmd.OutOrStdout(), nodes) },
	}
	cmd.Flags().BoolVar(&f.keepTokens, "keep-tokens", false, "join tokens that were made before still hold")
	cmd.Flags().StringVar(&f.dir, "dir", "", "`DIR` of weir cluster init")
	return cmd
}

func (f *revokeFlags) run(stdout io.Writer, nodes []string) error {
	dir, err := dirOrDefault([]string{f.dir})
	if err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	if _, err := trust.LoadIdentity(dir, access.CoordinatorFiles); errors.Is(err, fs.ErrNotExist) {
		return exit.Usage("there is no cluster in %s: say where it is with --dir (%w)", dir, err)
	} else if err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	now := time.Now()
	if err := trust.Revoke(dir, nodes, f.keepTokens, now); err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	what := "certificates of " + strings.Join(nodes, ", ")
	if !f.keepTokens {
		what += " and all join tokens"
	}
	_, err = fmt.Fprintf(stdout, "%s that were made until %s are refused by sessions that begin now\n", what,
		now.UTC().Format("2 January 2006 15:04:05 UTC"))
	return exit.With(gate.ExitExecution, err)
}

package cluster

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/executor/trust"
	"weir/gate"
)

type tokenFlags struct {
	dir, node, out string
	ttl            time.Duration
}

func newToken() *cobra.Command {
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
		return exit.With(gate.ExitUsage, err)
	}
	authority, err := trust.LoadAuthority(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return exit.Usage("there is no cluster in %s: make one with \"weir cluster init\", or say where it is with --dir (%w)",
			dir, err)
	}
	if err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	token, err := authority.Token(f.ttl, f.node)
	if err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	if f.out == "" {
		_, err = fmt.Fprintln(stdout, token)
		return exit.With(gate.ExitExecution, err)
	}
	if err := trust.WriteNew(f.out, []byte(token+"\n"), 0o600); err != nil {
		return exit.Usage("writing the token: %w", err)
	}
	node := "any node"
	if f.node != "" {
		node = "node " + f.node
	}
	fmt.Fprintf(stderr, "%s: lets %s join until %s\n", f.out, node,
		time.Now().Add(f.ttl).UTC().Format("2 January 2006 15:04 UTC"))
	return nil
}

package main

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"weir/executor/cluster"
	"weir/gate"
)

func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "look after the etcd that sessions on many hosts share",
		Long: `cluster shows who uses an etcd and removes what is of no use to anybody. Nothing
needs to be removed: every key goes with the process that wrote it.`,
		Example: `  weir cluster status --etcd https://etcd:2379 --etcd-cacert ca.pem
  weir cluster clean --etcd http://127.0.0.1:2379 --dry-run`,
		RunE: onlySubcommands,
	}
	cmd.AddCommand(newClusterStatus(), newClusterClean())
	// the commands that make certificates and tokens come here: newClusterInit(), newClusterToken()
	return cmd
}

// directory opens etcd for a command about all sessions, and closes it behind the command.
func (f *clusterFlags) directory(ctx context.Context, do func(*cluster.Directory) error) error {
	config, err := f.config()
	if err != nil {
		return err
	}
	if len(config.Endpoints) == 0 {
		return wrongUsage("--etcd is missing: it says where etcd is, as https://host:2379")
	}
	d, err := cluster.OpenDirectory(ctx, config)
	if err == nil {
		err = do(d)
		if closed := d.Close(err != nil); err == nil {
			err = closed
		}
	}
	if _, coded := errors.AsType[*codedError](err); coded {
		return err
	}
	return withCode(gate.ExitExecution, err)
}

// harmless is a text from etcd, where anybody may have written it, as it can be printed
// on a terminal.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

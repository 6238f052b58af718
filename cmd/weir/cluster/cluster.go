// Package cluster is the verb cluster: it prepares and looks after what sessions on many
// hosts share.
package cluster

import (
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "prepare and look after what sessions on many hosts share",
		Long: `cluster makes what agents on other hosts and the coordinator know each other by,
shows who uses an etcd, and removes what is of no use to anybody. Sessions on one
host need none of it, and neither do those that weir starts over ssh, Slurm or
Kubernetes: each of them makes its own keys. Nothing in etcd needs to be removed:
every key goes with the process that wrote it.`,
		Example: `  weir cluster init
  weir cluster token --node gpu-07 --out gpu-07.token
  weir cluster revoke gpu-07
  weir cluster status --etcd https://etcd:2379 --etcd-cacert ca.pem
  weir cluster clean --etcd http://127.0.0.1:2379 --dry-run
  weir cluster manifests examples/quickstart.yaml --kube-image registry.example.com/weir:1.7`,
	}
	cmd.AddCommand(newInit(), newToken(), newRevoke(), newStatus(), newClean(), newManifests())
	return cmd
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

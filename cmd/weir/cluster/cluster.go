// Package cluster is the command weir cluster: certificates, etcd and manifests for sessions on several hosts.
package cluster

import (
	"strings"
	"unicode"

	"github.com/spf13/cobra"
)

func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "manage certificates, etcd and manifests for sessions on several hosts",
		Long: `cluster makes the certificates of coordinator and agents, lists the sessions and
agents of an etcd, and removes leftovers. Sessions on one host need none of it, nor do
sessions that weir starts over ssh, Slurm or Kubernetes: each makes its own keys. Keys
in etcd need no cleaning up: they expire with the process that wrote them.`,
		Example: `  weir cluster init --node gpu-07,gpu-08
  weir cluster status --etcd https://etcd:2379 --etcd-cacert ca.pem
  weir cluster clean --etcd http://127.0.0.1:2379 --dry-run
  weir cluster manifests examples/quickstart.yaml --kube-image registry.example.com/weir:1.7`,
	}
	cmd.AddCommand(newInit(), newStatus(), newClean(), newManifests())
	return cmd
}

// printable replaces the unprintable characters of a text from etcd, which is untrusted.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

package main

import "github.com/spf13/cobra"

func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cluster",
		Short: "prepare and look after what sessions on many hosts share",
		Long: `cluster makes what agents on other hosts and the coordinator know each other by.
Sessions on one host need none of it, and neither do those that weir starts over ssh,
Slurm or Kubernetes: each of them makes its own.`,
		Example: `  weir cluster init
  weir cluster token --node gpu-07 --out gpu-07.token`,
		RunE: onlySubcommands,
	}
	cmd.AddCommand(newClusterInit(), newClusterToken())
	return cmd
}

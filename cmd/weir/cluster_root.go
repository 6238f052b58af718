package main

import "github.com/spf13/cobra"

func newCluster() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cluster",
		Short:   "prepare and look after what runs sessions on many hosts",
		Long:    "cluster has what sessions on many hosts need beside weir run.",
		Example: "  weir cluster manifests examples/quickstart.yaml --kube-image registry.example.com/weir:1.7",
		RunE:    onlySubcommands,
	}
	cmd.AddCommand(newClusterManifests())
	return cmd
}

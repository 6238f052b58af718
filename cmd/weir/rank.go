package main

import (
	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/executor/rank"
)

// newRank is the process that an agent starts for each rank. It is not for hands.
func newRank() *cobra.Command {
	return &cobra.Command{
		Use:    "rank",
		Short:  "be one rank of a launch (started by weir itself)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return exit.Code(rank.Main()) },
	}
}

package main

import (
	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/rank"
)

// newRank is the process that an agent starts for each rank.
func newRank() *cobra.Command {
	return &cobra.Command{
		Use:    "rank",
		Short:  "run one rank of a launch (started by weir itself)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(*cobra.Command, []string) error { return exit.Code(rank.Main()) },
	}
}

// newGuard is the process that cleans up after an agent that was killed.
func newGuard() *cobra.Command {
	return &cobra.Command{
		Use:    "guard",
		Short:  "clean up after an agent that was killed (started by weir itself)",
		Hidden: true,
		Args:   cobra.NoArgs,
		Run:    func(*cobra.Command, []string) { agent.Guard() },
	}
}

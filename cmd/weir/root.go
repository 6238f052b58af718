package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"weir/cmd/weir/cluster"
	"weir/cmd/weir/run"
	"weir/suggest"
)

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "measure the data paths of AI inference and judge the measurements",
		Long: `weir reads a scenario, moves real bytes between processes, and says whether the
flow is what was promised. Exit codes are listed by "weir docs exit-codes".`,
		Example: `  weir run examples/quickstart.yaml
  weir plan examples/quickstart.yaml
  weir gate weir-out/20261121-101500-quickstart-3f9a`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs, // so that onlySubcommands answers, not cobra
		RunE:          onlySubcommands,
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		run.New(buildVersion()), newPlan(), newValidate(), newGate(), newReport(), newCompare(), newCalibrate(),
		newProbe(), newAgent(), cluster.New(),
		newFmt(), newConvert(), newImport(), newCatalog(), newMatgen(), newSchema(), newCI(), newHistory(), newDocs(),
		newInit(),
		newVersion(), newRank(), newGuard(),
	)
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.HasSubCommands() && c.RunE == nil { // it only groups others
			c.Args, c.RunE = cobra.ArbitraryArgs, onlySubcommands
		}
	}
	addCompletions(root)
	return root
}

// onlySubcommands is what a command does that only groups others: alone it shows
// its help, and a word that is none of its subcommands is an error.
func onlySubcommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return fmt.Errorf("%q is no command of %q%s", args[0], cmd.CommandPath(), suggest.DidYouMean(args[0], names))
}

// flagError adds the nearest flag to the message about an unknown one.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	hint := suggest.DidYouMean(unknown, names)
	if hint != "" {
		hint = strings.Replace(hint, `"`, `"--`, 1)
	}
	return fmt.Errorf("unknown flag --%s%s", unknown, hint)
}

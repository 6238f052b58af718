package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/cluster"
	"github.com/weir-bench/weir/cmd/weir/launcher"
	"github.com/weir-bench/weir/cmd/weir/run"
	"github.com/weir-bench/weir/cmd/weir/serve"
	"github.com/weir-bench/weir/internal/suggest"
)

// extra has the commands that only some builds have.
var extra []*cobra.Command

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "weir",
		Short: "benchmark the data paths of AI inference, and gate on the results",
		Long: `weir reads a scenario, moves real bytes between processes, and reports whether its
assertions hold. "weir docs exit-codes" lists the exit codes.`,
		Example: `  weir run examples/quickstart.yaml
  weir plan examples/quickstart.yaml
  weir gate weir-out/20261121-101500-quickstart-3f9a`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       versionText(),
		Args:          cobra.ArbitraryArgs, // so that onlySubcommands reports errors, not cobra
		RunE:          onlySubcommands,

		PersistentPreRunE: noEmptyValues,
	}
	root.SetVersionTemplate("{{.Version}}")
	root.SetFlagErrorFunc(flagError)
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"run", "Run scenarios:", []*cobra.Command{
			newInit(), newCatalog(), newValidate(), newPlan(), run.New(buildVersion()), newProbe(),
		}},
		{"results", "Work with results:", []*cobra.Command{
			newReport(), newGate(), newCompare(), newCalibrate(), newHistory(), serve.New(),
		}},
		{"write", "Write scenarios:", []*cobra.Command{newFmt(), newConvert(), newImport(), newMatgen(), newSchema()}},
		{"hosts", "Use several hosts and CI:", []*cobra.Command{newAgent(), cluster.New(), newCI()}},
		{"help", "Get help:", []*cobra.Command{newDocs(), newVersion()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.AddCommand(append(extra, newRank(), newGuard())...) // hidden
	root.SetHelpCommandGroupID("help")
	root.InitDefaultHelpCmd()
	refuseUnknownTopics(root)
	root.SetCompletionCommandGroupID("help")
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.HasSubCommands() && c.RunE == nil {
			c.Args, c.RunE = cobra.ArbitraryArgs, onlySubcommands
		}
	}
	addCompletions(root)
	wrapHelp(root)
	return root
}

// refuseUnknownTopics makes `weir help NAME` an error if there is no such command.
func refuseUnknownTopics(root *cobra.Command) {
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		panic("cobra has no command help")
	}
	print := help.Run
	help.Run, help.RunE = nil, func(cmd *cobra.Command, args []string) error {
		of, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			return cmp.Or(err, onlySubcommands(of, rest))
		}
		print(cmd, args)
		return nil
	}
}

// onlySubcommands is RunE of a command without an action: it prints the help, or reports an unknown subcommand.
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
	hint := suggest.DidYouMean(args[0], names)
	if hint == "" && cmd.HasParent() {
		hint = "; there are " + suggest.Few(args[0], names, "")
	}
	return fmt.Errorf("%q is no command of %q%s", args[0], cmd.CommandPath(), hint)
}

// otherFlags are the flags of weir for names that other commands and tools have.
var otherFlags = map[string]string{
	"format": "report", "output": "out", "output-dir": "out", "filter": "only", "select": "only", "set": "var",
	"repeat": "launches", "inventory": "hosts",
}

// flagError adds to the error of an unknown flag its new place, or the nearest known flag.
func flagError(cmd *cobra.Command, err error) error {
	unknown, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	if now := launcher.Moved(unknown); now != "" && cmd.Flags().Lookup("launcher-config") != nil {
		return fmt.Errorf("--%s: now %s", unknown, now)
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	hint := suggest.DidYouMean(unknown, names)
	if own := otherFlags[unknown]; own != "" && slices.Contains(names, own) {
		hint = fmt.Sprintf("; did you mean %q?", own)
	}
	if hint != "" {
		hint = strings.Replace(hint, `"`, `"--`, 1)
	}
	return fmt.Errorf("unknown flag --%s%s", unknown, hint)
}

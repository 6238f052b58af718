package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/interop/importer"
	"github.com/weir-bench/weir/results"
)

// addImportScript lets weir import read a script or a command line of any tool.
func addImportScript(cmd *cobra.Command) {
	var out string
	var o importer.Options
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return onlySubcommands(cmd, args)
		}
		src, err := os.ReadFile(args[0])
		switch {
		case err == nil:
			return importScript(cmd, args[0], string(src), out, o)
		case fileName.MatchString(args[0]):
			return exit.Usage("there is no file %s; give a command line in quotes, as one argument", args[0])
		case !strings.Contains(args[0], " "):
			var names []string
			for _, c := range cmd.Commands() {
				names = append(names, c.Name())
			}
			return exit.Usage("there is no tool and no file %q. %s", args[0], suggest.Sentence(args[0], names, "tools"))
		}
		return importScript(cmd, "", args[0], out, o)
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of stdout")
	cmd.Flags().StringVar(&o.Memory, "memory", "",
		"`KIND` of memory of all buffers, instead of the command line's: "+strings.Join(memoryOption().Values, ", "))
	cmd.Flags().BoolVar(&o.AsCommand, "as-command", false, "run the tools themselves, with workload command")
	cmd.Flags().BoolVar(&o.SkipUnmapped, "skip-unmapped", false, "drop flags that cannot be mapped")
}

// importScript writes the scenario of a script or a command line, and tells the fate of each command.
func importScript(cmd *cobra.Command, file, text, out string, o importer.Options) error {
	if o.Memory != "" {
		if err := memoryKind(o.Memory); err != nil {
			return exit.Usage("--memory: %w", err)
		}
	}
	if out != "" && format.SyntaxOf(out) != format.YAML {
		return exit.Usage("-o %s: the scenario is YAML, so its name must end with .yaml or .yml", out)
	}
	o.Read, o.Glob = os.ReadFile, filepath.Glob
	made, err := importer.Script(file, text, o)
	if made != nil {
		for _, f := range made.Fates {
			fmt.Fprintf(cmd.ErrOrStderr(), "line %d: %s: %s\n", f.Line, shortened(f.Command), f.Became)
		}
	}
	if err != nil {
		return exit.Usage("%w", err)
	}
	for _, n := range made.Notes {
		if n.Warning {
			fmt.Fprintln(cmd.ErrOrStderr(), "warning:", n.Text)
		}
	}
	if err := plannable(cmd, made.Scenario); err != nil {
		return err
	}
	if out == "" {
		_, err := cmd.OutOrStdout().Write(made.Scenario)
		return exit.With(gate.ExitExecution, err)
	}
	if err := results.WriteFile(out, made.Scenario); err != nil {
		return exit.With(gate.ExitExecution, fmt.Errorf("writing the imported scenario: %w", err))
	}
	return nil
}

// shortened returns a command on one line of the screen.
func shortened(command string) string {
	const most = 60
	words := []rune(strings.Join(strings.Fields(command), " "))
	if len(words) > most {
		return string(words[:most]) + "…"
	}
	return string(words)
}

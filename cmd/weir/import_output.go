package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/interop/importer"
	"github.com/weir-bench/weir/results"
)

// lineImport has the flags of the commands that make a scenario of command lines, and writes it.
type lineImport struct {
	out     string
	options importer.Options
}

func (i *lineImport) addFlags(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&i.out, "output", "o", "", "write to `FILE` instead of stdout")
	cmd.Flags().StringVar(&i.options.Memory, "memory", "",
		"`KIND` of memory of all buffers, instead of the command line's: "+strings.Join(memoryOption().Values, ", "))
	cmd.Flags().BoolVar(&i.options.SkipUnmapped, "skip-unmapped", false, "drop flags that cannot be mapped")
}

// check checks the flags, and lets the import read files.
func (i *lineImport) check() error {
	if i.options.Memory != "" {
		if err := memoryKind(i.options.Memory); err != nil {
			return exit.Usage("--memory: %w", err)
		}
	}
	if i.out != "" && format.SyntaxOf(i.out) != format.YAML {
		return exit.Usage("-o %s: the scenario is YAML, so its name must end with .yaml or .yml", i.out)
	}
	i.options.Base = filepath.Dir(i.out)
	i.options.Glob = filepath.Glob
	i.options.Read = func(path string) ([]byte, error) { return bounded.ReadFile(path, bounded.Text) }
	return nil
}

// write prints the warnings, and writes the scenario if it can be planned.
func (i *lineImport) write(cmd *cobra.Command, made *importer.Imported) error {
	for _, n := range made.Notes {
		if n.Warning {
			fmt.Fprintln(cmd.ErrOrStderr(), "warning:", n.Text)
		}
	}
	if err := plannable(cmd, made.Scenario, made.Variables); err != nil {
		return err
	}
	return writeScenario(cmd, i.out, "imported", made.Scenario)
}

// writeScenario writes a scenario that was converted or imported to a file, or to stdout if none is named.
func writeScenario(cmd *cobra.Command, file, how string, scenario []byte) error {
	if file == "" {
		_, err := cmd.OutOrStdout().Write(scenario)
		return exit.With(gate.ExitExecution, err)
	}
	if err := results.WriteFile(file, scenario); err != nil {
		return exit.With(gate.ExitExecution, fmt.Errorf("writing the %s scenario: %w", how, err))
	}
	return nil
}

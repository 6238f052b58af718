package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"weir/ctperftest"
	"weir/dsl"
	"weir/dsl/format"
	"weir/gate"
	"weir/results"
)

func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "import",
		Short:   "make a scenario of another benchmark's file",
		Example: "  weir import ct-perftest config.yaml > scenario.yaml\n  weir import ct-perftest matrices_16ranks > sequence.yaml",
		RunE:    onlySubcommands,
	}
	cmd.AddCommand(newImportCTPerftest())
	return cmd
}

func newImportCTPerftest() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "ct-perftest FILE|DIR",
		Short: "make a scenario of a file of NIXL's ct-perftest or sequential-ct-perftest",
		Long: `ct-perftest reads the YAML file of NIXL's ct-perftest or sequential-ct-perftest,
with the matrices that it names, and prints the scenario that moves the same: of
workload traffic, or of traffic_sequence with as many iterations as the program has.
Where that program does something else than its file says, a warning tells. Of a
directory, as weir matgen writes it, it reads the metadata.yaml. A scenario may also
name such a file itself, as metadata_file of workload traffic_sequence.

Paths of matrices are written relative to the scenario: to the folder of the
file that -o names, or else to the working directory.`,
		Example: `  weir import ct-perftest config.yaml > scenario.yaml
  weir import ct-perftest traffic/config.yaml -o traffic/scenario.yaml
  weir import ct-perftest matrices_16ranks -o sequence.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out != "" && format.SyntaxOf(out) != format.YAML {
				return wrongUsage("-o %s: the scenario is written in YAML, and its name ends with .yaml or .yml", out)
			}
			c, files, diags := ctperftest.Read(args[0])
			if err := dsl.WriteDiagnostics(cmd.ErrOrStderr(), "text", diags, files); err != nil {
				return withCode(gate.ExitExecution, fmt.Errorf("writing diagnostics: %w", err))
			}
			if c == nil {
				return exit(gate.ExitUsage)
			}
			if err := c.OneMemory(); err != nil {
				return wrongUsage("%w", err)
			}
			scenario, err := imported(cmd, c, out)
			if err != nil {
				return err
			}
			if out == "" {
				_, err := cmd.OutOrStdout().Write(scenario)
				return withCode(gate.ExitExecution, err)
			}
			if err := results.WriteFile(out, scenario); err != nil {
				return withCode(gate.ExitExecution, fmt.Errorf("writing the imported scenario: %w", err))
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of stdout")
	return cmd
}

// imported is the scenario of a config as it stands in a file, or in the working
// directory if there is none. What weir would refuse of it is said before it is written.
func imported(cmd *cobra.Command, c *ctperftest.Config, out string) ([]byte, error) {
	path := out
	if path == "" {
		path = "scenario.yaml"
	}
	src := c.Scenario(filepath.Dir(path))
	_, sources, diags := dsl.Load(path, src, dsl.Options{})
	if err := dsl.WriteDiagnostics(cmd.ErrOrStderr(), "text", diags, sources); err != nil {
		return nil, withCode(gate.ExitExecution, fmt.Errorf("writing diagnostics: %w", err))
	}
	if diags.HasErrors() {
		return nil, exit(gate.ExitUsage)
	}
	return src, nil
}

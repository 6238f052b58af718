package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/ctperftest"
	"weir/dsl"
	"weir/dsl/format"
	"weir/gate"
	"weir/results"
	"weir/toolimport"
	"weir/workload"
	"weir/workload/traffic"
)

func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "make a scenario, or results, of another benchmark's file or command line",
		Example: "  weir import ct-perftest config.yaml --memory dram > scenario.yaml\n  weir import ct-perftest matrices_16ranks --memory dram > sequence.yaml\n" +
			"  weir import nixlbench 'nixlbench --backend UCX --op_type READ' > scenario.yaml",
		RunE: onlySubcommands,
	}
	cmd.AddCommand(newImportCTPerftest())
	for _, tool := range toolimport.Tools() {
		cmd.AddCommand(newImportTool(tool))
	}
	for _, tool := range toolimport.ResultTools() {
		cmd.AddCommand(newImportResult(tool))
	}
	return cmd
}

func newImportCTPerftest() *cobra.Command {
	var out, memory string
	cmd := &cobra.Command{
		Use:   "ct-perftest FILE|DIR",
		Short: "make a scenario of a file of NIXL's ct-perftest or sequential-ct-perftest",
		Long: `ct-perftest reads the YAML file of NIXL's ct-perftest or sequential-ct-perftest,
with the matrices that it names, and prints the scenario that moves the same: of
workload traffic, or of traffic_sequence with as many iterations as the program has.
Where that program does something else than its file says, a warning tells. Of a
directory, as weir matgen writes it, it reads the metadata.yaml. A scenario may also
name such a file itself, as metadata_file of workload traffic_sequence.

Both programs have their buffers in the memory of GPUs unless the file says mem_type
cpu or dram: then the scenario has memory: vram, which needs GPUs. --memory dram moves
the same between buffers in host memory, and the scenario says where they were.

Paths of matrices are written relative to the scenario: to the folder of the
file that -o names, or else to the working directory.`,
		Example: `  weir import ct-perftest config.yaml --memory dram > scenario.yaml
  weir import ct-perftest traffic/config.yaml -o traffic/scenario.yaml
  weir import ct-perftest matrices_16ranks --memory dram -o sequence.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if memory != "" {
				if err := memoryKind(memory); err != nil {
					return exit.Usage("--memory: %w", err)
				}
			}
			if out != "" && format.SyntaxOf(out) != format.YAML {
				return exit.Usage("-o %s: the scenario is written in YAML, and its name ends with .yaml or .yml", out)
			}
			c, files, diags := ctperftest.Read(args[0])
			if err := dsl.WriteDiagnostics(cmd.ErrOrStderr(), "text", diags, files); err != nil {
				return exit.With(gate.ExitExecution, fmt.Errorf("writing diagnostics: %w", err))
			}
			if c == nil {
				return exit.Code(gate.ExitUsage)
			}
			if err := place(c, memory); err != nil {
				return err
			}
			scenario, err := imported(cmd, c, out)
			if err != nil {
				return err
			}
			if out == "" {
				_, err := cmd.OutOrStdout().Write(scenario)
				return exit.With(gate.ExitExecution, err)
			}
			if err := results.WriteFile(out, scenario); err != nil {
				return exit.With(gate.ExitExecution, fmt.Errorf("writing the imported scenario: %w", err))
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of stdout")
	cmd.Flags().StringVar(&memory, "memory", "",
		"put all buffers into this `KIND` of memory, whatever the file says: "+
			strings.Join(memoryOption().Values, ", "))
	return cmd
}

// place decides in which memory the buffers are: where the file has them unless another
// kind is asked for.
func place(c *ctperftest.Config, memory string) error {
	if memory != "" {
		c.Move(memory)
	}
	if err := c.OneMemory(); err != nil {
		return exit.Usage("%w", err)
	}
	if err := memoryKind(c.Patterns[0].Memory); err != nil {
		return exit.Usage("%s: %w", c.File, err)
	}
	return nil
}

// memoryKind holds a kind of memory against those of workload traffic.
func memoryKind(kind string) error {
	_, err := memoryOption().Parse(kind)
	return err
}

func memoryOption() workload.Option {
	o, ok := traffic.Kind.Option("memory")
	if !ok {
		panic("workload traffic has no option memory")
	}
	return o
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
		return nil, exit.With(gate.ExitExecution, fmt.Errorf("writing diagnostics: %w", err))
	}
	if diags.HasErrors() {
		return nil, exit.Code(gate.ExitUsage)
	}
	return src, nil
}

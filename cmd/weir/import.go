package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/interop/ctperftest"
	"github.com/weir-bench/weir/interop/importer"
	"github.com/weir-bench/weir/workload/traffic"
)

func newImport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import [FILE.sh|'COMMAND LINE'|-- COMMAND ARGS…]",
		Short: "convert files and command lines of other benchmarks to scenarios or results",
		Example: "  weir import ct-perftest config.yaml --memory dram > scenario.yaml\n  weir import ct-perftest matrices_16ranks --memory dram > sequence.yaml\n" +
			"  weir import nixlbench 'nixlbench --backend UCX --op_type READ' > scenario.yaml\n" +
			"  weir import run-all-benchmarks.sh -o scenario.yaml",
		Long: `import converts what other benchmarks have: command lines and scripts to scenarios,
result files to result documents. Without the name of a tool it reads a shell script, the
commands in a Markdown file or a command line, makes a run of each call of a tool that it
knows, and says on stderr line by line what became of it.`,
	}
	addImportScript(cmd)
	cmd.AddCommand(newImportCTPerftest())
	for _, tool := range importer.Tools() {
		cmd.AddCommand(newImportTool(tool))
	}
	for _, tool := range importer.ResultTools() {
		cmd.AddCommand(newImportResult(tool))
	}
	return cmd
}

func newImportCTPerftest() *cobra.Command {
	var out, memory string
	cmd := &cobra.Command{
		Use:     "ct-perftest FILE|DIR|'COMMAND LINE'",
		Aliases: []string{"sequential-ct-perftest"},
		Short:   "convert a file of NIXL's ct-perftest or sequential-ct-perftest to a scenario",
		Long: `ct-perftest reads the YAML file of NIXL's ct-perftest or sequential-ct-perftest,
with the matrices that it names, and prints a scenario with the same transfers: of
workload traffic, or of traffic_sequence with the iterations of the program. A warning
tells where the program does not do what its file says. In a directory, such as the
output of weir matgen, it reads metadata.yaml; of a command line of the program, the
file that it names. A scenario can also refer to such a file
with metadata_file of workload traffic_sequence.

Both programs use GPU memory unless the file has mem_type cpu or dram: the scenario
then has memory: vram, which needs GPUs. --memory dram uses host memory instead, and
the scenario notes the original memory.

Paths of matrices are relative to the scenario: to the directory of -o FILE, or else
to the working directory.`,
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
				return exit.Usage("-o %s: the scenario is YAML, so its name must end with .yaml or .yml", out)
			}
			if _, err := os.Stat(args[0]); err != nil && strings.Contains(args[0], " ") {
				file, err := ctperftest.CommandLine(args[0])
				if err != nil {
					return exit.Usage("%w", err)
				}
				args[0] = file
			}
			c, files, diags := ctperftest.Read(args[0])
			if err := input.Show(cmd, diags, files); err != nil {
				return err
			}
			if err := place(c, memory); err != nil {
				return err
			}
			scenario, err := imported(cmd, c, out)
			if err != nil {
				return err
			}
			return writeScenario(cmd, out, "imported", scenario)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of stdout")
	cmd.Flags().StringVar(&memory, "memory", "",
		"`KIND` of memory of all buffers, instead of the file's: "+strings.Join(memoryOption().Values, ", "))
	return cmd
}

// place moves the buffers to a kind of memory, if one is given.
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

// memoryKind checks a kind of memory against the option of workload traffic.
func memoryKind(kind string) error {
	_, err := memoryOption().Parse(kind)
	return err
}

func memoryOption() option.Option {
	o, ok := traffic.Kind.Option("memory")
	if !ok {
		panic("workload traffic has no option memory")
	}
	return o
}

// imported is the scenario of a config, for a file or for the working directory. It is loaded once, so
// that its diagnostics are shown before it is written.
func imported(cmd *cobra.Command, c *ctperftest.Config, out string) ([]byte, error) {
	path := out
	if path == "" {
		path = "scenario.yaml"
	}
	src := c.Scenario(filepath.Dir(path))
	_, sources, diags := dsl.Load(path, src, dsl.Options{})
	if err := input.Show(cmd, diags, sources); err != nil {
		return nil, err
	}
	return src, nil
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/interop/importer"
	"github.com/weir-bench/weir/planner"
)

// toolExamples are command lines of each tool.
var toolExamples = map[string]string{
	"nixlbench": `  weir import nixlbench 'nixlbench --backend UCX --op_type READ --max_block_size 1048576' > scenario.yaml
  weir import nixlbench run-libfabric-test.sh --memory dram -o scenario.yaml
  weir import nixlbench nixlbench.toml -o scenario.yaml
  weir import nixlbench --as-command 'nixlbench --backend LIBFABRIC'`,
	"kvbench": `  weir import kvbench 'kvbench plan --model model.yaml --model_config tp8.yaml --backend UCX --source memory'
  weir import kvbench 'kvbench plan --model model.yaml --model_configs "*.yaml" --backend UCX --source gpu' --memory dram`,
	"ucx_perftest": `  weir import ucx_perftest 'ucx_perftest 10.0.0.1 -t ucp_put_bw -s 65536 -n 10000'
  weir import ucx_perftest --as-command 'UCX_TLS=rc ucx_perftest 10.0.0.1 -t tag_lat -s 8'`,
	"nixl-ep": `  weir import nixl-ep 'python3 test_data_plane.py --num-processes=8 --mode=e2e' > scenario.yaml
  weir import nixl-ep 'python3 test_control_plane.py --experts-per-rank=8,32' > scenario.yaml
  weir import nixl-ep 'python3 elastic/elastic.py --plan single_expansion.json' > scenario.yaml`,
	"perftest": `  weir import perftest 'ib_write_bw -d mlx5_0 -x 3 -a 10.0.0.1'
  weir import perftest --as-command 'ib_read_lat -d mlx5_0 10.0.0.1'`,
}

func newImportTool(tool string) *cobra.Command {
	var i lineImport
	itself := ""
	if importer.RunsItself(tool) {
		itself = ", or\n--as-command makes a run of workload command, which runs the tool and parses its output"
	}
	cmd := &cobra.Command{
		Use:   tool + " 'COMMAND LINE'|FILE",
		Short: "convert command lines of " + tool + " to a scenario",
		Long: fmt.Sprintf(`%s prints a scenario that measures the same as a command line of the tool,
with weir's own workload. The argument is the whole command line in quotes, or a shell
script with such lines. Each line becomes a run; the lines of the processes of one
benchmark, such as two pods, become one run. The scenario asks for the number of nodes
of the command line, or of a preceding srun, mpirun or torchrun. Variables before a
command become variables of the run; nothing is expanded.

Comments in the scenario and warnings name each flag that was dropped, and why. A flag
that changes the measurement and cannot be mapped is an error, unless --skip-unmapped
drops it%s.
`+"`weir docs import %s`"+` lists all flags.`, tool, itself, tool),
		Example: toolExamples[tool],
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := i.check(); err != nil {
				return err
			}
			lines, err := toolLines(tool, args[0])
			if err != nil {
				return exit.Usage("%w", err)
			}
			made, err := importer.Import(tool, lines, i.options)
			if err != nil {
				return exit.Usage("%w", err)
			}
			return i.write(cmd, made)
		},
	}
	i.addFlags(cmd)
	if importer.RunsItself(tool) {
		cmd.Flags().BoolVar(&i.options.AsCommand, "as-command", false, "run the tool itself, with workload command")
	}
	return cmd
}

// fileName matches an argument that looks like the name of a script or a configuration file.
var fileName = regexp.MustCompile(`^\S+\.(sh|bash|toml|txt|ya?ml|json)$`)

// toolLines are the calls of a tool in a file, or in the argument itself if it names no file.
func toolLines(tool, arg string) ([]importer.Line, error) {
	info, err := os.Stat(arg)
	if errors.Is(err, fs.ErrNotExist) && fileName.MatchString(arg) {
		return nil, fmt.Errorf("there is no file %s; give a command line in quotes, as one argument", arg)
	}
	if err != nil || info.IsDir() {
		return importer.Lines(tool, "", arg)
	}
	src, err := bounded.ReadFile(arg, bounded.Text)
	if err != nil {
		return nil, err
	}
	if tool == "nixlbench" && filepath.Ext(arg) == ".toml" {
		return importer.Config(arg, src)
	}
	return importer.Lines(tool, arg, string(src))
}

// plannable checks that a scenario can be planned, before it is written. Its variables have some value.
func plannable(cmd *cobra.Command, src []byte, variables []string) error {
	values := map[string]string{}
	for _, name := range variables {
		if values[name] = "http://" + name; importer.IsCount(name) {
			values[name] = "1"
		}
	}
	s, sources, diags := dsl.Load("scenario.yaml", src, dsl.Options{Vars: values})
	if !diags.HasErrors() {
		_, wrong := planner.Tabulate(s)
		diags = append(diags, wrong...)
	}
	return input.Show(cmd, diags, sources)
}

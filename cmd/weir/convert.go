package main

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/dsl/format"
)

func newConvert() *cobra.Command {
	var to, out string
	cmd := &cobra.Command{
		Use:   "convert FILE [--to yaml|hcl]",
		Short: "write a scenario in the other syntax",
		Long: `convert writes a YAML scenario as HCL or an HCL scenario as YAML. Expressions stay
expressions, quantities keep their text, and the plan stays the same. Comments before
and beside keys and items, and after the last one, are kept; others, such as comments
of merge keys, are lost. Anchors and merge keys are expanded.`,
		Example: `  weir convert --to hcl examples/quickstart.yaml
  weir convert scenario.hcl -o scenario.yaml
  weir convert --to hcl catalog:nixlbench-libfabric`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to != "" && to != format.YAML && to != format.HCL {
				return exit.Usage("--to %q: use yaml or hcl", to)
			}
			path, src, err := input.Source(args[0])
			if err != nil {
				return err
			}
			if to == "" {
				to = format.HCL
				if format.SyntaxOf(path) == format.HCL {
					to = format.YAML
				}
			}
			if out != "" && format.SyntaxOf(out) != to {
				return exit.Usage("-o %s: the extension of the file must be .%s", out, to)
			}
			var converted []byte
			var diags hcl.Diagnostics
			input.Limited(nil, "converting "+path, func() { converted, diags = format.Convert(path, src, to) })
			if diags.HasErrors() {
				return showDiagnostics(cmd, path, src, diags)
			}
			return writeScenario(cmd, out, "converted", converted)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "output `SYNTAX`: yaml or hcl (default: the other one)")
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of stdout")
	return cmd
}

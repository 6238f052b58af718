package main

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/results"
)

func newFmt() *cobra.Command {
	var (
		check  bool
		syntax string
	)
	cmd := &cobra.Command{
		Use:   "fmt FILE…",
		Short: "format scenario files",
		Long: `fmt formats scenarios in place: indentation, spaces, and in YAML also unneeded quotes
and empty lines. The meaning of a file does not change. Comments stay, though some move
to the next key. A file with syntax errors is not changed, nor is one with a comment
that cannot be placed. Texts in YAML get quotes where other YAML readers would refuse or
misread them. The file - is stdin, written to stdout.`,
		Example: `  weir fmt examples/*.yaml
  weir fmt --check .
  weir fmt --syntax yaml - < scenario.yaml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && args[0] == "-" {
				return fmtStdin(cmd, syntax, check)
			}
			if syntax != "" {
				return exit.Usage("--syntax is for stdin (-) alone; a file has its syntax from its extension")
			}
			files, err := input.Files(args)
			if err != nil {
				return err
			}
			code := gate.ExitPassed
			for _, f := range files {
				one, err := fmtFile(cmd, f, check)
				if err != nil {
					one = exit.Explain(cmd.ErrOrStderr(), cmd, err)
				}
				code = gate.Worst(code, one)
			}
			return exit.Code(code)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false,
		"write nothing: list the files that would change, and exit with 1 if there are any")
	cmd.Flags().StringVar(&syntax, "syntax", "", "`SYNTAX` of stdin: yaml or hcl")
	return cmd
}

// fmtStdin formats stdin to stdout; with check it only reports whether it would change.
func fmtStdin(cmd *cobra.Command, syntax string, check bool) error {
	if syntax != format.YAML && syntax != format.HCL {
		return exit.Usage("--syntax %q: stdin has no extension, so say --syntax yaml or --syntax hcl", syntax)
	}
	src, err := bounded.Stdin()
	if err != nil {
		return exit.With(gate.ExitUsage, fmt.Errorf("reading stdin: %w", err))
	}
	out, diags := formatted("stdin."+syntax, src)
	if diags.HasErrors() {
		return showDiagnostics(cmd, "stdin."+syntax, src, diags)
	}
	if !check {
		_, err = cmd.OutOrStdout().Write(out)
		return exit.With(gate.ExitExecution, err)
	}
	if err := showDiagnostics(cmd, "stdin."+syntax, src, diags); err != nil {
		return err
	}
	if !bytes.Equal(src, out) {
		fmt.Fprintln(cmd.OutOrStdout(), "-")
		return exit.Code(gate.ExitFailed)
	}
	return nil
}

// fmtFile formats one file and returns its exit code.
func fmtFile(cmd *cobra.Command, path string, check bool) (int, error) {
	if format.SyntaxOf(path) == "" {
		return 0, exit.Usage("%s: only .yaml, .yml and .hcl files can be formatted", path)
	}
	src, err := bounded.ReadFile(path, bounded.Text)
	if err != nil {
		return 0, exit.With(gate.ExitUsage, fmt.Errorf("reading a scenario: %w", err))
	}
	out, diags := formatted(path, src)
	if diags.HasErrors() {
		return 0, showDiagnostics(cmd, path, src, diags)
	}
	if bytes.Equal(src, out) {
		return gate.ExitPassed, nil
	}
	if check {
		if err := showDiagnostics(cmd, path, src, diags); err != nil {
			return 0, err
		}
		_, err := fmt.Fprintln(cmd.OutOrStdout(), path)
		return gate.ExitFailed, exit.With(gate.ExitExecution, err)
	}
	if err := results.WriteFile(path, out); err != nil {
		return 0, exit.With(gate.ExitExecution, fmt.Errorf("writing the formatted scenario: %w", err))
	}
	return gate.ExitPassed, nil
}

// showDiagnostics prints the diagnostics of a file, and returns wrong usage if there are errors.
func showDiagnostics(cmd *cobra.Command, path string, src []byte, diags hcl.Diagnostics) error {
	return input.Show(cmd, diags, dsl.Sources{path: {Bytes: src}})
}

func formatted(path string, src []byte) (out []byte, diags hcl.Diagnostics) {
	input.Limited(nil, "formatting "+path, func() { out, diags = format.Format(path, src) })
	return out, diags
}

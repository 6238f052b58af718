package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
)

func newValidate() *cobra.Command {
	var (
		variables input.Variables
		noiseFrom stored.Noise
		format    string
	)
	cmd := &cobra.Command{
		Use:   "validate FILE…",
		Short: "check scenarios without running anything",
		Long: `validate reads and plans scenarios and reports all errors in them. It also warns of
assertions that no measurement can decide. Text goes to stderr; json and github are
for programs and go to stdout. The file - is YAML on stdin.`,
		Example: `  weir validate examples/*.yaml
  weir validate --format github scenario.yaml
  helm template chart | yq .data.scenario | weir validate -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains([]string{"text", "json", "github"}, format) {
				return exit.Usage("--format %q: use text, json or github", format)
			}
			options, err := variables.Options()
			if err != nil {
				return err
			}
			files, err := input.Files(args)
			if err != nil {
				return err
			}
			noise, err := noiseFrom.Read(cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			var all hcl.Diagnostics
			sources := dsl.Sources{}
			code := gate.ExitPassed
			for _, f := range files {
				cases, src, diags, err := check(f, options, noise)
				if err != nil {
					code = gate.Worst(code, exit.Explain(cmd.ErrOrStderr(), cmd, err))
					continue
				}
				maps.Copy(sources, src)
				all = append(all, diags...)
				switch {
				case diags.HasErrors():
					code = gate.Worst(code, gate.ExitUsage)
				case format == "text":
					noun := "cases"
					if cases == 1 {
						noun = "case"
					}
					fmt.Fprintf(cmd.ErrOrStderr(), "%s: valid, %d %s\n", f, cases, noun)
				}
			}
			if format == "text" {
				err = screen.Diagnostics(cmd.ErrOrStderr(), all, sources)
			} else {
				err = dsl.WriteDiagnostics(cmd.OutOrStdout(), format, all, sources)
			}
			if err != nil {
				return exit.With(gate.ExitExecution, fmt.Errorf("writing diagnostics: %w", err))
			}
			return exit.Code(code)
		},
	}
	variables.Add(cmd.Flags())
	noiseFrom.Add(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", "text", "`FORMAT`: text, json or github")
	return cmd
}

// check plans an argument and counts its cases. Of a large scenario it expands only an excerpt.
func check(
	arg string, options dsl.Options, noise []results.CaseNoise,
) (cases int, _ dsl.Sources, _ hcl.Diagnostics, _ error) {
	if input.IsPlan(arg) {
		p, err := input.ReadPlan(arg, options.Vars)
		if err != nil {
			return 0, nil, nil, err
		}
		return len(p.Cases), nil, input.DoubtDiagnostics(input.Doubts(p, noise), nil), nil
	}
	s, sources, diags, err := input.Load(arg, options)
	if err != nil || diags.HasErrors() {
		return 0, sources, diags, err
	}
	if absent := dsl.AbsentBaseline(s); absent != nil {
		diags = append(diags, absent)
	}
	t, more := input.Tabulate(s)
	diags = append(diags, more...)
	if t == nil {
		return 0, sources, diags, nil
	}
	p := t.Excerpt(shownCases, shownGroups) // as weir plan shows it
	if t.Len() <= shownCases {
		p = t.Plan()
	}
	return t.Len(), sources, append(diags, input.DoubtDiagnostics(input.Doubts(p, noise), sources)...), nil
}

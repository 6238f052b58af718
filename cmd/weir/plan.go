package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"weir/gate"
	"weir/planner"
	"weir/results"
)

// planFormats are the forms that weir plan can print.
var planFormats = map[string]func(*planner.Plan, io.Writer) error{
	"text":    (*planner.Plan).Text,
	"dot":     (*planner.Plan).Dot,
	"mermaid": (*planner.Plan).Mermaid,
	"json": func(p *planner.Plan, w io.Writer) error {
		b, err := p.Encode()
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	},
}

func newPlan() *cobra.Command {
	var (
		variables variableFlags
		selection selectionFlags
		output    string
		save      string
	)
	cmd := &cobra.Command{
		Use:   "plan FILE",
		Short: "show what a scenario would run and what it asserts, with the numbers that decide",
		Example: `  weir plan examples/quickstart.yaml
  weir plan examples/quickstart.yaml --save plan.json && weir run plan.json
  weir plan examples/quickstart.yaml -o dot | dot -Tsvg > plan.svg`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := planFormats[output]
			if !ok {
				return wrongUsage("--output %q: use text, json, dot or mermaid", output)
			}
			vars, err := variables.values()
			if err != nil {
				return err
			}
			plans, err := readAll(cmd, args, vars)
			if err != nil {
				return err
			}
			if len(plans) != 1 {
				return wrongUsage("%s holds %d scenarios; plan one at a time", args[0], len(plans))
			}
			p := plans[0]
			if err := selection.apply(p); err != nil {
				return err
			}
			if save != "" {
				b, err := p.Encode()
				if err == nil {
					err = results.WriteFile(save, b)
				}
				if err != nil {
					return withCode(gate.ExitExecution, fmt.Errorf("saving the plan: %w", err))
				}
			}
			return withCode(gate.ExitExecution, write(p, cmd.OutOrStdout()))
		},
	}
	variables.add(cmd.Flags())
	selection.add(cmd.Flags())
	cmd.Flags().StringVarP(&output, "output", "o", "text", "`FORMAT`: text, json, dot or mermaid")
	cmd.Flags().StringVar(&save, "save", "", "also save the plan as JSON to `FILE`, for weir run FILE")
	return cmd
}

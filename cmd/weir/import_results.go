package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/gate"
	"weir/printable"
	"weir/toolimport"
)

func newImportResult(tool string) *cobra.Command {
	var out string
	o := toolimport.ResultOptions{Run: "load"}
	cmd := &cobra.Command{
		Use:   tool + " RESULT",
		Short: "make a result document of a result file of " + tool,
		Long: fmt.Sprintf(`%s reads a result file of the tool and writes what it says as a result
document of weir: a case for each result, each with one launch. Such a document can
be compared with others, be the baseline of a scenario and stand in a history. Its
metrics have the names of workload serving where they mean the same; what the tool
counted stands in their definitions, and docs/tools.md has it too. One launch has no
interval: what is compared with it rests on the noise of the other side.`, tool),
		Example: fmt.Sprintf(`  weir import %[1]s result.json -o old.json
  weir import %[1]s result.json --case 'load[concurrency=16]' -o old.json
  weir compare old.json new.json`, tool),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			content, err := os.ReadFile(args[0])
			if err != nil {
				return exit.With(gate.ExitUsage, err)
			}
			at, err := os.Stat(args[0])
			if err != nil {
				return exit.With(gate.ExitUsage, err)
			}
			o.Made, o.Weir = at.ModTime().UTC().Truncate(0), buildVersion()
			doc, err := toolimport.Result(tool, args[0], content, o)
			if err != nil {
				return exit.With(gate.ExitUsage, fmt.Errorf("%s: %w", args[0], err))
			}
			gate.Judge(doc)
			if out == "" {
				return exit.With(gate.ExitExecution, doc.EncodeTo(&printable.JSON{To: cmd.OutOrStdout()}))
			}
			if err := doc.Write(out); err != nil {
				return exit.With(gate.ExitExecution, fmt.Errorf("writing the imported results: %w", err))
			}
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "write to `FILE` instead of stdout")
	cmd.Flags().StringVar(&o.Run, "run", o.Run, "`NAME` of the run that its cases are of")
	cmd.Flags().StringVar(&o.Case, "case", "", "`KEY` of the only case, as a scenario has it")
	return cmd
}

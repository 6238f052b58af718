package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/interop/importer"
	"github.com/weir-bench/weir/results"
)

func newImportResult(tool string) *cobra.Command {
	var out, as string
	o := importer.ResultOptions{Run: "load"}
	cmd := &cobra.Command{
		Use:   tool + " RESULT|'COMMAND LINE'",
		Short: "convert a result file of " + tool + " to a result document",
		Long: fmt.Sprintf(`%s reads a result file of the tool and writes a result document of weir:
a case for each result, with one launch, or with the runs of a sweep of vLLM
as launches. You can compare it with other
documents, use it as the baseline of a scenario, or add it to a history. Its metrics
have the names of workload serving where they mean the same; their definitions, and
docs/tools.md, say how the tool counts. A single launch has no interval: a comparison
uses the noise of the other side.

A command line of the tool in quotes becomes a scenario with the same load.

--as baseline writes the document to baseline.json (or -o FILE), and prints a scenario
with the same loads that fails if they are a tenth worse: run it with --var url=URL
--var model=MODEL.`, tool),
		Example: fmt.Sprintf(`  weir import %[1]s result.json -o old.json
  weir import %[1]s result.json --case 'load[concurrency=16]' -o old.json
  weir import %[1]s result.json --as baseline > gate.yaml
  weir compare old.json new.json`, tool),
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if as != "" && as != asBaseline {
				return exit.Usage("--as %s: it must be %s", as, asBaseline)
			}
			if _, err := os.Stat(args[0]); err != nil && strings.Contains(args[0], " ") {
				return importScript(cmd, "", args[0], lineImport{out: out})
			}
			content, err := bounded.ReadFile(args[0], bounded.Result)
			if err != nil {
				return exit.With(gate.ExitUsage, err)
			}
			at, err := os.Stat(args[0])
			if err != nil {
				return exit.With(gate.ExitUsage, err)
			}
			o.Made, o.Weir = at.ModTime().UTC().Truncate(0), buildVersion()
			doc, err := importer.Result(tool, args[0], content, o)
			if err != nil {
				return exit.With(gate.ExitUsage, fmt.Errorf("%s: %w", args[0], err))
			}
			gate.Judge(doc)
			if as == asBaseline {
				return writeBaseline(cmd, doc, out)
			}
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
	cmd.Flags().StringVar(&as, "as", "", "`baseline`: also print a scenario that compares with the document")
	cmd.Flags().StringVar(&o.Run, "run", o.Run, "`NAME` of the run of the cases")
	cmd.Flags().StringVar(&o.Case, "case", "", "`KEY` of the only case, as in a scenario")
	return cmd
}

// asBaseline is the value of --as.
const asBaseline = "baseline"

// writeBaseline writes the document to a file, and prints a scenario that compares with it.
func writeBaseline(cmd *cobra.Command, doc *results.Document, out string) error {
	if out == "" {
		out = asBaseline + ".json"
	}
	scenario, err := importer.Gate(doc, out)
	if err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	if err := doc.Write(out); err != nil {
		return exit.With(gate.ExitExecution, fmt.Errorf("writing the baseline: %w", err))
	}
	_, err = cmd.OutOrStdout().Write(scenario)
	return exit.With(gate.ExitExecution, err)
}

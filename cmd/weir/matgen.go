package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/interop/ctperftest"
	"github.com/weir-bench/weir/workload/traffic/model"
)

// matgenFlags are the flags of weir matgen.
type matgenFlags struct {
	spec                 *model.Spec
	out                  string
	force, dryRun, exact bool
	mean, scale          string // of the lengths, as the original's flags have them
}

// published are the original's names of flags.
var published = map[string]string{
	"num-user-requests": "requests", "num-prefill-nodes": "prefill-nodes", "num-decode-nodes": "decode-nodes",
	"ppn": "gpus-per-node", "max-batch-mem": "max-batch-memory", "results-dir": "out",
}

func newMatgen() *cobra.Command {
	f := matgenFlags{spec: model.NewSpec()}
	cmd := &cobra.Command{
		Use:   "matgen (--model NAME | --config FILE) --prefill-nodes N --decode-nodes N",
		Short: "generate traffic matrices from a model, its parallelism and a mix of requests",
		Long: `matgen generates the traffic of disaggregated inference: for each batch of requests,
the KV cache that the prefill ranks send to the decode ranks, and the time of the
prefill before it. It writes a directory in the format of NIXL's
inference_workload_matgen, which sequential-ct-perftest reads too: metadata.yaml and
matrices/matrix_N.txt.

The first ranks prefill and the following ranks decode, in workers of consecutive
ranks. Lengths are drawn from the seed: the same flags give the same files. The sleep
rule "published" is the original's for a dense model: 36e12 operations per second, far
below the rate of an H100.

Command lines of inference_workload_matgen.py work as they are: generate, and its
spellings of flags, as --num-user-requests and --results-dir.`,
		Example: `  weir matgen --model llama-405b --isl 16000 --prefill-nodes 1 --decode-nodes 1 --prefill-tp 8 --decode-tp 8 --dry-run
  weir matgen --model deepseek-r1 --isl lognormal:8000,6000 --requests 100 --prefill-nodes 2 --decode-nodes 4 --prefill-tp 8 --decode-tp 16 --out traffic
  weir matgen --config config.json --trace conversation_trace.jsonl --prefill-nodes 1 --decode-nodes 1 --out traffic --force`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"generate"}, // the original's only command
		RunE:      func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.add(cmd)
	return cmd
}

func (f *matgenFlags) add(cmd *cobra.Command) {
	s := cmd.Flags()
	s.SortFlags = false
	f.spec.Spell = func(name string) string { return "--" + flagName(name) }
	for _, field := range model.Fields() {
		v := &fieldFlag{field, f.spec, field.Default()}
		flag := s.VarPF(v, flagName(field.Name), "", field.Doc)
		if field.Type == model.Bool {
			flag.NoOptDefVal = "true"
		}
	}
	s.StringVarP(&f.out, "out", "o", "", "output `DIR` (default: matrices_Nranks)")
	s.StringVar(&f.mean, "isl-mean", "16000", "")
	s.StringVar(&f.scale, "isl-scale", "10000", "")
	for _, name := range []string{"isl-mean", "isl-scale"} {
		_ = s.MarkHidden(name) // it exists
	}
	s.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		name = strings.ReplaceAll(name, "_", "-")
		return pflag.NormalizedName(cmp.Or(published[name], name))
	})
	s.BoolVar(&f.exact, "exact", false, "write exact bytes (default: the published form, two decimals of K, M or G)")
	s.BoolVar(&f.force, "force", false, "replace the sequence in an existing directory")
	s.BoolVar(&f.dryRun, "dry-run", false, "write nothing: print a table of the patterns")
}

func (f *matgenFlags) run(cmd *cobra.Command) error {
	if cmd.Flags().Changed("isl-mean") || cmd.Flags().Changed("isl-scale") {
		if err := f.spec.Set("isl", "normal:"+f.mean+","+f.scale); err != nil {
			return exit.With(gate.ExitUsage, err)
		}
	}
	c, patterns, err := f.spec.Patterns()
	if err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	if f.dryRun {
		return exit.With(gate.ExitExecution, writeTrafficTable(screen.Text(cmd.OutOrStdout()), c, patterns))
	}
	return f.write(cmd.ErrOrStderr(), c, patterns)
}

func (f *matgenFlags) write(w io.Writer, c *model.Config, patterns []matrix.Pattern) error {
	dir := f.out
	if dir == "" {
		dir = fmt.Sprintf("matrices_%dranks", c.Ranks())
	}
	size := matrix.Rounded
	if f.exact {
		size = matrix.Exact
	}
	err := ctperftest.Write(dir, patterns, size, f.force)
	if errors.Is(err, ctperftest.ErrExists) {
		return exit.Usage("%w: choose another --out, or replace its sequence with --force", err)
	}
	if err != nil {
		return exit.With(gate.ExitExecution, err)
	}
	fmt.Fprintf(w, "%s: %s\n", filepath.Join(dir, ctperftest.MetadataFile), trafficSummary(c, patterns))
	if lost := roundingLoss(patterns, size); lost != 0 {
		fmt.Fprintf(w, "Cells of two decimals change the bytes by %+.4f %%; --exact writes them whole.\n", 100*lost)
	}
	return nil
}

// fieldFlag is a field of a spec as a flag.
type fieldFlag struct {
	model.Field
	spec *model.Spec
	text string
}

func flagName(field string) string { return strings.ReplaceAll(field, "_", "-") }

// Set reads the value.
func (f *fieldFlag) Set(text string) error {
	f.text = text
	return f.spec.Set(f.Name, text)
}

func (f *fieldFlag) String() string { return f.text }

// Type is the name of the value in the help.
func (f *fieldFlag) Type() string { return f.Field.Type }

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"weir/ctperftest"
	"weir/dsl/suggest"
	"weir/gate"
	"weir/matgen"
	"weir/matrix"
)

// matgenFlags are the flags of weir matgen.
type matgenFlags struct {
	model, config, kv         string
	keepAll                   bool
	requests                  int
	isl, osl, trace           string
	minISL, maxISL            int
	seed                      uint64
	prefillNodes, decodeNodes int
	gpus                      int
	prefill, decode           matgen.Parallel
	rail                      bool
	batch                     int
	maxBatch                  string
	sleep                     string
	flops                     float64
	out                       string
	force, dryRun, exact      bool
}

func newMatgen() *cobra.Command {
	var f matgenFlags
	cmd := &cobra.Command{
		Use:   "matgen (--model NAME | --config FILE) --prefill-nodes N --decode-nodes N",
		Short: "make traffic matrices from a model, its parallelism and a mix of requests",
		Long: `matgen makes the traffic of disaggregated inference: for each batch of requests
what the ranks that computed the prompt send of its KV cache to the ranks that
answer it, and how long the prefill computes before. It writes a directory in the
form of NIXL's inference_workload_matgen, which sequential-ct-perftest reads too:
metadata.yaml and matrices/matrix_N.txt.

The first ranks prefill, those after them decode, both in workers of consecutive
ranks. Lengths are drawn from the seed, so the same flags give the same files.
Times of the rule "published" are those of the original at batches of one dense
model: 36e12 operations per second, far below what an H100 does.`,
		Example: `  weir matgen --model llama-405b --isl 16000 --prefill-nodes 1 --decode-nodes 1 --prefill-tp 8 --decode-tp 8 --dry-run
  weir matgen --model deepseek-r1 --isl lognormal:8000,6000 --requests 100 --prefill-nodes 2 --decode-nodes 4 --prefill-tp 8 --decode-tp 16 --out traffic
  weir matgen --config config.json --trace conversation_trace.jsonl --prefill-nodes 1 --decode-nodes 1 --out traffic --force`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.add(cmd)
	return cmd
}

func (f *matgenFlags) add(cmd *cobra.Command) {
	s := cmd.Flags()
	s.SortFlags = false
	s.StringVar(&f.model, "model", "", "`NAME` of a public model, as llama-405b, qwen3-30b-a3b, deepseek-r1 or gpt-oss-120b")
	s.StringVar(&f.config, "config", "", "config.json of Hugging Face in `FILE`, instead of --model")
	s.StringVar(&f.kv, "kv-dtype", "", "`TYPE` of the numbers in the KV cache: bfloat16, float16, float32, fp8 or int8 (default that of the model)")
	s.BoolVar(&f.keepAll, "no-windows", false, "keep all tokens in layers with a sliding window, as engines do whose transfers do not know of them")
	s.IntVar(&f.requests, "requests", 1000, "`N` requests; of a trace at most so many, and without this flag all")
	s.StringVar(&f.isl, "isl", "normal:16000,10000", "tokens of prompts: `DISTRIBUTION` fixed:N, uniform:A,B, normal:MEAN,DEVIATION or lognormal:MEAN,DEVIATION")
	s.IntVar(&f.minISL, "min-isl", 1000, "shortest prompt of a normal or lognormal distribution, in `TOKENS`")
	s.IntVar(&f.maxISL, "max-isl", 128000, "longest prompt of a normal or lognormal distribution, in `TOKENS`")
	s.StringVar(&f.osl, "osl", "", "tokens of answers: `DISTRIBUTION` as for --isl, at most 2^24 (default none; they move nothing and stand in the metadata)")
	s.StringVar(&f.trace, "trace", "", "requests with their times from `FILE`, Mooncake's JSON lines or Azure's CSV, instead of --isl")
	s.Uint64Var(&f.seed, "seed", 1, "`SEED` of the lengths")
	s.IntVar(&f.prefillNodes, "prefill-nodes", 0, "`N` nodes that prefill")
	s.IntVar(&f.decodeNodes, "decode-nodes", 0, "`N` nodes that decode")
	s.IntVar(&f.gpus, "gpus-per-node", 8, "`N` ranks of a node")
	for _, side := range []struct {
		name string
		p    *matgen.Parallel
	}{{"prefill", &f.prefill}, {"decode", &f.decode}} {
		s.IntVar(&side.p.TP, side.name+"-tp", 1, "tensor parallelism of a "+side.name+" worker: `N` ranks")
		s.IntVar(&side.p.PP, side.name+"-pp", 1, "pipeline parallelism of a "+side.name+" worker: `N` stages")
		s.IntVar(&side.p.CP, side.name+"-cp", 1, "context parallelism of a "+side.name+" worker: `N` ranks")
	}
	s.BoolVar(&f.rail, "rail-optimized", false, "order the ranks of decode workers so that senders and receivers have the same place in their groups")
	s.IntVar(&f.batch, "batch-size", 1, "prompts of a batch: `N`")
	s.StringVar(&f.maxBatch, "max-batch-memory", "100GB", "`SIZE` of KV cache above which a batch is closed")
	s.StringVar(&f.sleep, "sleep", string(matgen.Published), "`RULE` for the time of a prefill: published, full (all matrices, causal mask) or none")
	s.Float64Var(&f.flops, "flops", matgen.PublishedFLOPS, "operations per second of a GPU: `FLOPS`, as 400e12")
	s.StringVarP(&f.out, "out", "o", "", "`DIR` to write (default matrices_Nranks)")
	s.BoolVar(&f.exact, "exact", false, "write every byte; the published form rounds cells to two decimals of K, M or G")
	s.BoolVar(&f.force, "force", false, "replace the sequence in a directory that has one")
	s.BoolVar(&f.dryRun, "dry-run", false, "write nothing: print a table of the patterns")
}

func (f *matgenFlags) run(cmd *cobra.Command) error {
	c, err := f.served()
	if err != nil {
		return withCode(gate.ExitUsage, err)
	}
	if err := c.Check(); err != nil {
		return withCode(gate.ExitUsage, err)
	}
	if f.trace != "" {
		for _, name := range []string{"isl", "osl", "min-isl", "max-isl", "seed"} {
			if cmd.Flags().Changed(name) {
				return wrongUsage("--%s has no effect with --trace, which has the requests: leave one of the two out", name)
			}
		}
	}
	requests, err := f.mix(cmd.Flags().Changed("requests"))
	if err != nil {
		return withCode(gate.ExitUsage, err)
	}
	patterns, err := matgen.Generate(*c, requests)
	if err != nil {
		return withCode(gate.ExitUsage, err)
	}
	if f.dryRun {
		return withCode(gate.ExitExecution, writeTrafficTable(cmd.OutOrStdout(), c, patterns))
	}
	return f.write(cmd.ErrOrStderr(), c, patterns)
}

func (f *matgenFlags) write(w io.Writer, c *matgen.Config, patterns []matrix.Pattern) error {
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
		return wrongUsage("%w: choose another --out, or replace its sequence with --force", err)
	}
	if err != nil {
		return withCode(gate.ExitExecution, err)
	}
	fmt.Fprintf(w, "%s: %s\n", filepath.Join(dir, ctperftest.MetadataFile), trafficSummary(c, patterns))
	if lost := roundingLoss(patterns, size); lost != 0 {
		fmt.Fprintf(w, "Cells of two decimals change the bytes by %+.4f %%; --exact writes them whole.\n", 100*lost)
	}
	return nil
}

// served is what the flags say of the model and the ranks that serve it.
func (f *matgenFlags) served() (*matgen.Config, error) {
	m, err := f.architecture()
	if err != nil {
		return nil, err
	}
	if f.keepAll {
		m = m.WithoutWindows()
	}
	c := &matgen.Config{
		Model: m, Prefill: f.prefill, Decode: f.decode, Rail: f.rail, BatchSize: f.batch,
		Compute: matgen.Compute{Rule: matgen.Rule(f.sleep), FLOPS: f.flops},
	}
	for _, n := range []struct {
		flag  string
		value int
	}{{"prefill-nodes", f.prefillNodes}, {"decode-nodes", f.decodeNodes}, {"gpus-per-node", f.gpus}} {
		if n.value < 1 || n.value > matrix.MaxRanks {
			return nil, fmt.Errorf("--%s %d: give a number from 1 to %d", n.flag, n.value, matrix.MaxRanks)
		}
	}
	c.PrefillRanks, c.DecodeRanks = f.prefillNodes*f.gpus, f.decodeNodes*f.gpus
	if f.kv != "" {
		if c.KV, err = matgen.ParseDType(f.kv); err != nil {
			return nil, fmt.Errorf("--kv-dtype: %w", err)
		}
	}
	if c.MaxBatchBytes, err = sizeFlag("max-batch-memory", f.maxBatch); err != nil {
		return nil, err
	}
	return c, nil
}

func (f *matgenFlags) architecture() (*matgen.Model, error) {
	switch {
	case (f.model == "") == (f.config == ""):
		return nil, errors.New("give one of --model NAME and --config FILE")
	case f.config != "":
		src, err := os.ReadFile(f.config)
		if err != nil {
			return nil, fmt.Errorf("reading the model's config: %w", err)
		}
		return matgen.ReadConfig(src, f.config)
	}
	m, err := matgen.Lookup(f.model)
	if err != nil {
		return nil, fmt.Errorf("--model: %w. %s", err, suggest.Sentence(f.model, matgen.Names(), "models"))
	}
	return m, nil
}

// mix are the requests. limited says that their number was asked for.
func (f *matgenFlags) mix(limited bool) ([]matgen.Request, error) {
	if f.trace == "" {
		input, err := matgen.ParseLengths(f.isl, f.minISL, f.maxISL)
		if err != nil {
			return nil, fmt.Errorf("--isl: %w", err)
		}
		var output *matgen.Lengths
		if f.osl != "" {
			l, err := matgen.ParseLengths(f.osl, 1, matgen.MaxTokens)
			if err != nil {
				return nil, fmt.Errorf("--osl: %w", err)
			}
			output = &l
		}
		return matgen.Mix(f.requests, input, output, f.seed)
	}
	most := 0
	if limited {
		if most = f.requests; most < 1 {
			return nil, fmt.Errorf("--requests %d: give a number above 0", most)
		}
	}
	file, err := os.Open(f.trace)
	if err != nil {
		return nil, fmt.Errorf("reading the trace: %w", err)
	}
	defer file.Close()
	return matgen.ReadTrace(file, f.trace, most)
}

// Package serving is workload serving: the load of an OpenAI-compatible endpoint, and what its
// users get. A rank is a client process; all of a launch follow one schedule. Package
// weir/serving and those below it make, send and summarise requests; package engine/serving is
// the rank.
package serving

import (
	_ "embed"
	"slices"
	"time"

	"weir/quantity"
	"weir/results"
	"weir/serving/schedule"
	"weir/workload"
	"weir/workload/command"
)

// Runner is the name of what executes the ranks.
const Runner = "serving"

//go:embed docs.md
var docs string

// fixed marks an option that cases of one launch have in common.
func fixed(o workload.Option) workload.Option {
	o.Process = true
	return o
}

func count(name string, otherwise any, least, most int64) workload.Option {
	return workload.Option{Name: name, Type: workload.Count, Default: otherwise, Min: least, Max: most}
}

func span(name string, otherwise any) workload.Option {
	return workload.Option{Name: name, Type: workload.Time, Default: otherwise, Max: int64(30 * 24 * time.Hour)}
}

func text(name string, otherwise any) workload.Option {
	return workload.Option{Name: name, Type: workload.String, Default: otherwise}
}

func structure(name string, read func(string) (string, error)) workload.Option {
	return workload.Option{Name: name, Type: workload.Structure, Default: nothing, Read: read}
}

// typed marks a structure whose scalars keep their type.
func typed(o workload.Option) workload.Option {
	o.Typed = true
	return o
}

// late are names in texts whose values a launch has.
var late = []string{"service.*.url", "service.*.address", "service.*.port.*"}

// EnvPrefix begins the names of variables of a client's environment in headers.
const EnvPrefix = "client.env."

var options = []workload.Option{
	fixed(workload.Option{Name: "url", Type: workload.String, Default: "", Late: late}),
	fixed(text("service", "")),
	fixed(workload.Option{Name: "model", Type: workload.String, Required: true}),
	workload.EnumOption("api", "chat", "completions"),
	{Name: "stream", Type: workload.Bool, Default: true},
	fixed(workload.Option{
		Name: "headers", Type: workload.Structure, Default: nothing, Read: canonicalHeaders,
		Late: []string{EnvPrefix + "*"},
	}),
	typed(structure("body", canonicalBody)),
	fixed(workload.EnumOption("http", "1.1", "2")),
	fixed(workload.EnumOption("proxy", "none", "environment")),
	{Name: "tls_ca", Type: workload.File, Into: "tls_authorities"},
	fixed(workload.Option{Name: "tls_authorities", Type: workload.Data, Default: "", Read: canonicalAuthorities}),
	fixed(count("ranks", int64(1), 1, workload.MostProcesses)),
	count("concurrency", int64(0), 0, 1<<17),
	{Name: "rate", Type: workload.Frequency, Default: quantity.PerSecond(0), Max: schedule.MostRate},
	text("ramp", ""),
	text("arrivals", string(schedule.Constant)),
	count("max_in_flight", int64(0), 0, 1<<17),
	{Name: "trace", Type: workload.File, Into: "trace_rows"},
	{Name: "trace_rows", Type: workload.Data, Default: "", Read: canonicalTrace},
	{Name: "time_scale", Type: workload.Factor, Default: workload.Scale(1)},
	structure("search", canonicalSearch),
	count("requests", int64(0), 0, schedule.MostRequests),
	span("duration", quantity.Time(0)),
	span("grace", quantity.Time(30*time.Second)),
	{
		Name: "input", Type: workload.Structure, Default: nothing, Read: canonicalInput,
		Moved: map[string]string{"file": "prompts"},
	},
	{Name: "prompts", Type: workload.File, Into: "prompt_lines"},
	{Name: "prompt_lines", Type: workload.Data, Default: "", Read: canonicalLines},
	structure("output", canonicalOutput),
	count("turns", int64(1), 1, 1000),
	span("think", quantity.Time(0)),
	text("cancel", ""),
	structure("warmup", canonicalWarmup),
	structure("ready", canonicalReady),
	structure("timeout", canonicalTimeout),
	structure("max_answer", canonicalMaxAnswer),
	structure("slo", canonicalSLO),
	count("gpus", int64(0), 0, 1<<20),
	workload.EnumOption("window", "steady", "whole"),
	count("seed", int64(1), 0, 1<<53),
	workload.EnumOption("tokenizer", "usage", "endpoint"),
	command.ServicesOption,
}

// Kind is workload serving.
var Kind = &workload.Kind{
	Name:    "serving",
	Doc:     "a load on an OpenAI-compatible endpoint: times to tokens, throughput, goodput, errors",
	Options: options,
	Metrics: defined,
	Charts:  charts,
	Columns: []workload.Column{
		{Metric: "request_rate", Head: "requests\n", Drop: 3},
		{Metric: "output_throughput", Head: "output\ntokens", Interval: true},
		{Metric: "ttft.p50", Head: "ttft\np50", Interval: true},
		{Metric: "ttft.p99", Head: "ttft\np99", Drop: 2},
		{Metric: "itl.p50", Head: "itl\np50"},
		{Metric: "itl.p99", Head: "itl\np99", Drop: 4},
		{Metric: "latency.p50", Head: "latency\np50", Drop: 1},
		{Metric: "latency.p99", Head: "latency\np99", Drop: 5},
		{Metric: "error_rate", Head: "%\nfailed", Percent: true},
	},
	Brief: []string{"output_throughput", "ttft.p50", "itl.p50", "latency.p50", "error_rate"},
}

func init() {
	for _, o := range options {
		if o.Type != workload.File {
			Kind.Checked = append(Kind.Checked, o.Name)
		}
	}
	Kind.Document(docs)
	Kind.Check = func(v workload.Values) error {
		_, err := Decode(v)
		return err
	}
	Kind.Measures = measures
	Kind.Behaviour = workload.Behaviour{
		Spec:    func(v workload.Values) (workload.Spec, error) { return Decode(v) },
		Arrange: arrange, Reduce: reduce, Recompute: recompute, Redefined: redefined, Doubtful: doubtful,
		OfLaunch:    []string{"ready.time"},
		Undecidable: undecidable, Unmeasured: unmeasured, Idle: idle, Caution: caution, Unfinished: unfinished,
		Quantiles: results.Quantile.TenBeyond, Invalid: invalid, Disturbed: disturbed,
		Expected: func(options map[string]any, _ string) int64 { return int64(expected(options)) },
		Blocks:   map[string]workload.ForeignBlock{"aiperf": aiperf},
		Amount:   amount, AmountOf: []string{"requests"},
	}
	workload.Register(Kind)
}

// measures are the metrics of a run with those of its services behind the workload's own; nil: the
// services have none.
func measures(v workload.Values, _ []workload.Metric) ([]workload.Metric, error) {
	served, _ := Kind.Get(v)("services").(string)
	used, err := command.Use(served)
	if err != nil {
		return nil, err
	}
	more, err := used.Metrics(defined)
	if len(more) == 0 {
		return nil, err // the workload's own
	}
	return append(slices.Clone(defined), more...), err
}

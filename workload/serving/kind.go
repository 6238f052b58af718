// Package serving is workload serving: a load on an OpenAI-compatible endpoint, and its latency and throughput for
// users. A rank is a client process; all ranks of a launch share one schedule. Package load and its subpackages make,
// send and summarize requests; package engine/serving runs the rank.
package serving

import (
	_ "embed"
	"slices"
	"time"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/command"
	"github.com/weir-bench/weir/workload/serving/schedule"
)

// Runner is the name of the runner of its ranks.
const Runner = "serving"

//go:embed docs.md
var docs string

// fixed marks an option that all cases of a launch share.
func fixed(o option.Option) option.Option {
	o.Process = true
	return o
}

func count(name string, otherwise any, least, most int64) option.Option {
	return option.Option{Name: name, Type: option.Count, Default: otherwise, Min: least, Max: most}
}

func span(name string, otherwise any) option.Option {
	return option.Option{Name: name, Type: option.Time, Default: otherwise, Max: int64(30 * 24 * time.Hour)}
}

func text(name string, otherwise any) option.Option {
	return option.Option{Name: name, Type: option.String, Default: otherwise}
}

// late are the names in texts with values that are known in a launch.
var late = []string{"service.*.url", "service.*.address", "service.*.port.*"}

// EnvPrefix is the prefix of names of a client's environment variables in headers.
const EnvPrefix = "client.env."

var options = []option.Option{
	fixed(option.Option{Name: "url", Type: option.String, Default: "", Late: late}),
	fixed(text("service", "")),
	fixed(option.Option{Name: "model", Type: option.String, Required: true}),
	option.EnumOption("api", "chat", "completions"),
	{Name: "stream", Type: option.Bool, Default: true},
	fixed(option.Option{
		Name: "headers", Type: option.Structure, Default: nothing, Read: canonicalHeaders,
		Late: []string{EnvPrefix + "*"},
	}),
	{Name: "body", Type: option.Structure, Typed: true, Default: nothing, Read: canonicalBody},
	fixed(option.EnumOption("http", "1.1", "2")),
	fixed(option.EnumOption("proxy", "none", "environment")),
	{Name: "tls_ca", Type: option.File, Into: "tls_authorities"},
	fixed(option.Option{Name: "tls_authorities", Type: option.Data, Default: "", Read: canonicalAuthorities}),
	fixed(count("ranks", int64(1), 1, option.MostProcesses)),
	count("concurrency", int64(0), 0, 1<<17),
	{Name: "rate", Type: option.Frequency, Default: quantity.PerSecond(0), Max: schedule.MaxRate},
	text("ramp", ""),
	text("arrivals", string(schedule.Constant)),
	count("max_in_flight", int64(0), 0, 1<<17),
	{Name: "trace", Type: option.File, Into: "trace_rows"},
	{Name: "trace_rows", Type: option.Data, Default: "", Read: canonicalTrace},
	{Name: "time_scale", Type: option.Factor, Default: option.Scale(1)},
	{Name: "search", Type: option.Structure, Default: nothing, Read: canonicalSearch},
	count("requests", int64(0), 0, schedule.MaxRequests),
	span("duration", quantity.Time(0)),
	span("grace", quantity.Time(30*time.Second)),
	moved(short(structured("input", defaultInput), "tokens"), map[string]string{"file": "prompts"}),
	{Name: "prompts", Type: option.File, Into: "prompt_lines"},
	{Name: "prompt_lines", Type: option.Data, Default: "", Read: canonicalLines},
	short(structured("output", defaultOutput), "tokens"),
	count("turns", int64(1), 1, 1000),
	span("think", quantity.Time(0)),
	text("cancel", ""),
	warmup(),
	short(structured("ready", defaultReady), "timeout"),
	structured("timeout", defaultTimeouts),
	structured("max_answer", defaultMaxAnswer),
	structured("slo", SLO{}),
	count("gpus", int64(0), 0, 1<<20),
	option.EnumOption("window", "steady", "whole"),
	count("seed", int64(1), 0, 1<<53),
	option.EnumOption("tokenizer", "usage", "endpoint"),
	command.ServicesOption,
}

// Kind is workload serving.
var Kind = &workload.Kind{
	Name:    "serving",
	Doc:     "a load on an OpenAI-compatible endpoint: times to tokens, throughput, goodput, errors",
	Options: options,
	Metrics: defined,
	Show: workload.Presentation{
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
		Brief:  []string{"output_throughput", "ttft.p50", "itl.p50", "latency.p50", "error_rate"},
		Charts: charts,
	},
}

func init() {
	for _, o := range options {
		if o.Type != option.File {
			Kind.Checked = append(Kind.Checked, o.Name)
		}
	}
	Kind.Document(docs)
	Kind.Measures = measures
	Kind.Behaviour = behaviour{}
	workload.Register(Kind)
}

// behaviour implements workload.Behaviour.
type behaviour struct{}

// Spec decodes and checks the options of a case.
func (behaviour) Spec(v option.Values) (workload.Spec, error) { return Decode(v) }

// OfLaunch returns the metrics of the endpoint, which becomes ready once per launch.
func (behaviour) OfLaunch() []string { return []string{"ready.time"} }

// UnmeasuredBy returns all options: a metric may depend on any.
func (behaviour) UnmeasuredBy(string) []string { return Kind.Checked }

// Quantiles returns the number of requests for which ten are above the quantile.
func (behaviour) Quantiles(q results.Quantile) int64 { return q.TenBeyond() }

// Expected returns the number of requests of a case.
func (behaviour) Expected(options map[string]any, _ string) (least, most int64) {
	n := int64(expected(options))
	return n, n
}

// AmountOf returns the option of the load's length.
func (behaviour) AmountOf() []string { return []string{"requests"} }

// Blocks returns the outputs of other tools.
func (behaviour) Blocks() map[string]workload.ForeignBlock {
	return map[string]workload.ForeignBlock{"aiperf": aiperf, "llm-d": llmd}
}

// measures adds the metrics of a run's services to the workload's own; nil: there are none.
func measures(v option.Values, _ []workload.Metric) ([]workload.Metric, error) {
	served, _ := Kind.Get(v)("services").(string)
	used, err := command.Use(served)
	if err != nil {
		return nil, err
	}
	more, err := used.Metrics(defined)
	if len(more) == 0 {
		return nil, err // only the workload's own metrics
	}
	return append(slices.Clone(defined), more...), err
}

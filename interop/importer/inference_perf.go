package importer

import (
	"fmt"
	"strconv"

	"github.com/weir-bench/weir/internal/datafile"
	"github.com/weir-bench/weir/workload/serving"
)

var inferencePerf = &tool{name: "inference-perf", kind: serving.Kind, native: inferencePerfRun}

// inferencePerfConfig is the part of its configuration that says what the load is.
type inferencePerfConfig struct {
	API    any `yaml:"api"` // a name, or a mapping
	Server struct {
		Type    string
		Model   string         `yaml:"model_name"`
		URL     string         `yaml:"base_url"`
		Ignore  *bool          `yaml:"ignore_eos"`
		Key     string         `yaml:"api_key"`
		Further map[string]any `yaml:",inline"`
	}
	Load struct {
		Type    string
		Stages  []inferencePerfStage
		Further map[string]any `yaml:",inline"`
	}
	Data struct {
		Type    string
		Input   *inferencePerfLengths `yaml:"input_distribution"`
		Output  *inferencePerfLengths `yaml:"output_distribution"`
		Further map[string]any        `yaml:",inline"`
	}
	Further map[string]any `yaml:",inline"`
}

type inferencePerfStage struct {
	Rate, Duration float64
	Requests       int64          `yaml:"num_requests"`
	Concurrency    int64          `yaml:"concurrency_level"`
	Further        map[string]any `yaml:",inline"`
}

type inferencePerfLengths struct {
	Min, Max, Mean, Std float64
	Deviation           float64        `yaml:"std_dev"`
	Further             map[string]any `yaml:",inline"`
}

// Keys of the configuration that do not change the load.
var (
	inferencePerfReports = names("metrics|report|storage|tokenizer")
	inferencePerfWorkers = sortedKeys(inferencePerfInstead)
	inferencePerfInstead = map[string]string{
		"num_workers":                "clients of weir have no workers",
		"worker_max_concurrency":     "`max_in_flight` limits the requests of all clients",
		"worker_max_tcp_connections": "each request in flight has a connection",
		"interval":                   "stages are cases of their own",
		"request_timeout":            "`timeout` limits the time of a request",
		"base_seed":                  "`seed` chooses prompts and times",
	}
)

// inferencePerfRun maps a configuration file.
func inferencePerfRun(c *call) {
	c.dropEnv()
	c.run.timeout = loadTimeout
	file := c.text("config_file")
	if file == "" {
		c.fail("--config_file is missing")
		return
	}
	src, err := c.readFile(file)
	if err != nil {
		c.fail("--config_file %s: %w", file, err)
		return
	}
	var config inferencePerfConfig
	if err := datafile.Decode(src, &config); err != nil {
		c.fail("--config_file %s: %w", file, err)
		return
	}
	c.leftOut("", config.Further, inferencePerfReports)
	c.leftOut("server.", config.Server.Further, nil)
	for _, name := range inferencePerfWorkers {
		if v := config.Load.Further[name]; v != nil {
			c.warn("load.%s %v is not taken over: %s", name, v, inferencePerfInstead[name])
		}
	}
	c.leftOut("load.", config.Load.Further, inferencePerfWorkers)
	c.leftOut("data.", config.Data.Further, nil)
	kind, streams := fmt.Sprint(config.API), false
	if api, ok := config.API.(map[string]any); ok {
		kind = fmt.Sprint(api["type"])
		streams, _ = api["streaming"].(bool)
		delete(api, "type")
		delete(api, "streaming")
		c.leftOut("api.", api, nil)
	}
	if kind == "completion" || config.API == nil {
		kind = "completions"
	}
	c.setEndpoint(withScheme(config.Server.URL), kind)
	c.setModel(config.Server.Model)
	c.set("stream", truth(streams))
	c.setWarmup("")
	if config.Server.Key != "" {
		head := headers{of: c}
		head.add("Authorization", "Bearer "+config.Server.Key)
		head.set()
	}
	c.setStages(config.Load.Type, config.Load.Stages)
	c.setInferencePerfData(config.Data.Type, config.Data.Input, config.Data.Output, config.Server.Ignore)
}

// leftOut reports keys of the configuration that are not mapped.
func (c *call) leftOut(at string, keys map[string]any, silent []string) {
	for _, name := range silent {
		delete(keys, name)
	}
	for name, v := range keys {
		if v != nil {
			c.unmappedFlag("%s%s of --config_file", at, name)
		}
	}
}

// setStages makes a sweep of the stages of a load.
func (c *call) setStages(kind string, stages []inferencePerfStage) {
	var rates, durations, levels, requests list
	for _, s := range stages {
		c.leftOut("load.stages.", s.Further, nil)
		rates = append(rates, literal(strconv.FormatFloat(s.Rate, 'f', -1, 64)+"/s"))
		durations = append(durations, literal(strconv.FormatFloat(s.Duration, 'f', -1, 64)+"s"))
		levels, requests = append(levels, count(s.Concurrency)), append(requests, count(s.Requests))
	}
	a, b := pair{"rate", rates}, pair{"duration", durations}
	switch kind {
	case "constant", "":
		c.warn("load.type constant: inference-perf sends at random times that fill a stage; arrivals are constant here")
		c.set("arrivals", literal("constant"))
	case "poisson":
		c.set("arrivals", literal(kind))
	case "concurrent":
		a, b = pair{"concurrency", levels}, pair{"requests", requests}
	default:
		c.unmappedFlag("load.type %s of --config_file", kind)
		return
	}
	switch {
	case len(stages) == 0:
		c.unmappedFlag("load.stages of --config_file are missing: %s", searchHint)
	case len(stages) == 1:
		c.set(a.key, a.value.(list)[0])
		c.set(b.key, b.value.(list)[0])
	default:
		c.run.sweep = mapping{{"zip", mapping{a, b}}}
	}
}

// setInferencePerfData sets the lengths of random prompts; answers are as long as asked unless the server stops.
func (c *call) setInferencePerfData(kind string, input, output *inferencePerfLengths, ignores *bool) {
	if kind != "random" && kind != "synthetic" {
		c.unmappedFlag("data.type %s of --config_file: prompts of other data sets are a file: `prompts`", kind)
		return
	}
	if kind == "synthetic" {
		c.warn("data.type synthetic: its prompts are texts of a data set; those of weir are its own")
	}
	for _, side := range []struct {
		option string
		of     *inferencePerfLengths
	}{{"input", input}, {"output", output}} {
		if side.of == nil {
			c.unmappedFlag("data.%s_distribution of --config_file is missing", side.option)
			continue
		}
		delete(side.of.Further, "total_count")
		c.leftOut("data."+side.option+"_distribution.", side.of.Further, nil)
		deviation := max(side.of.Std, side.of.Deviation)
		if side.of.Min == side.of.Max {
			deviation = 0
		}
		if deviation > 0 {
			c.warn("data.%s_distribution: lengths are not limited to its min and max", side.option)
		}
		fields := inline{{"tokens", literal(spread(fmt.Sprint(side.of.Mean), fmt.Sprint(deviation)))}}
		if side.option == "output" && (ignores == nil || *ignores) {
			fields = append(fields, pair{"exact", truth(true)})
		}
		c.set(side.option, fields)
	}
}

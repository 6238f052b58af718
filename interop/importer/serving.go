package importer

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/workload/serving"
)

// Load generators, whose loads workload serving makes itself.
var (
	vllmBench   = &tool{name: "vllm-bench", kind: serving.Kind, native: servingRun, command: loadCommand}
	sglangBench = &tool{name: ofSglang, kind: serving.Kind, native: servingRun, command: loadCommand}
	aiperf      = &tool{name: "aiperf", kind: serving.Kind, native: servingRun, command: loadCommand}
	genaiPerf   = &tool{name: "genai-perf", kind: serving.Kind, native: servingRun, command: loadCommand}
	curl        = &tool{name: "curl", kind: serving.Kind, native: curlRun}
)

// ofSglang is the tool with defaults and data sets of its own.
const ofSglang = "sglang-bench"

// first returns the value of the first of several flags that the tool has and that is not empty.
func (c *call) first(names ...string) string {
	for _, name := range names {
		if f := c.tool.flag(name); f != nil && f.fate != ignored {
			if v, _ := c.get(f); v != "" {
				return v
			}
		}
	}
	return ""
}

// dropEnv removes variables, which are for the transports of a server, from a run that only sends requests.
func (c *call) dropEnv() {
	for _, v := range c.run.env {
		c.note("variable %s: the load has no use for it; a server of the run has its own env in services", v.Name)
	}
	c.run.env = nil
	c.notes = slices.DeleteFunc(slices.Clone(c.notes), func(n Note) bool { // also of those that only the shell knows
		return n.Warning && strings.HasPrefix(n.Text, "variable ")
	})
}

// loadTimeout is the time limit of a launch: the tools have none, and weir's default of 5 minutes is too short for
// many requests one after the other.
const loadTimeout = "1h"

// servingRun maps the flags of a load generator.
func servingRun(c *call) {
	key := ""
	if c.tool.name == "vllm-bench" || c.tool.name == ofSglang {
		key = c.taken(apiKey)
	}
	c.dropEnv()
	c.run.timeout = loadTimeout
	address := c.first("base-url", "url")
	if address == "" {
		address = c.first("host") + ":" + or(c.first("port"), sglangPort(c.first("backend")))
		if !strings.Contains(address, "://") {
			address = "http://" + address
		}
	}
	of, path := c.first("endpoint-type"), c.first("endpoint")
	c.refuseSeveral("url", "model")
	switch kind := c.first("service-kind"); {
	case c.tool.name == ofSglang:
		of = sglangInterface(c)
	case kind != "" && kind != "openai":
		c.fail("--service-kind %s: workload serving loads the interface of OpenAI", kind)
		return
	case of == "" && c.tool.name == "genai-perf":
		c.fail("--endpoint-type is missing: genai-perf then loads Triton through gRPC; workload serving loads chat and completions")
		return
	case path != "" && (of == "" || apiOf(of) != ""):
		of = path
	}
	c.setEndpoint(withScheme(address), of)
	c.setModel(c.first("served-model-name", "model"))
	if f := c.tool.flag("streaming"); f != nil && !c.has("streaming") || c.first("disable-stream") == "true" {
		c.set("stream", truth(false))
	}
	if rate := c.first("request-rate"); rate != "" && rate != "inf" {
		c.setEach("rate", "/s", "request-rate")
		c.setArrivals(c.first("request-rate-mode"), c.first("burstiness", "arrival-smoothness"))
	}
	setAmount(c)
	if !vllmPrompts(c) {
		setLengths(c)
	}
	replayTrace(c)
	c.setWarmup(c.first("num-warmups", "warmup-request-count", "warmup-requests"))
	c.setRequests(key)
}

// setWarmup sets the number of untimed requests; "": the tool sends none, beside one to see that the server answers.
func (c *call) setWarmup(requests string) {
	if requests == "" || sameValue(requests, "0") {
		c.set("warmup", inline{{"waves", literal("0")}})
		return
	}
	c.set("warmup", inline{{"requests", literal(requests)}})
}

// setModel sets the model. Without one the tool takes the server's, and who runs the scenario names it.
func (c *call) setModel(name string) {
	switch f := c.tool.flag("model"); {
	case name != "":
		c.set("model", c.texted("the model", name))
	case f != nil && f.Needed:
		c.fail("%s is missing", f.shown())
	default:
		c.variable("model")
		c.set("model", expression("${var.model}"))
	}
}

// sglangInterface is the interface of a backend.
func sglangInterface(c *call) string {
	switch backend := c.first("backend"); {
	case strings.HasSuffix(backend, "chat"):
		return "chat"
	case backend == "sglang" || backend == "sglang-native":
		c.note("--backend %s: weir sends requests to /v1/completions instead of /generate", backend)
		return "completions"
	case backend == "sglang-oai" || backend == "vllm" || backend == "lmdeploy":
		return "completions"
	default:
		return backend
	}
}

// replayTrace maps a file of requests with their times, which replaces the load and the lengths of prompts.
func replayTrace(c *call) {
	file, kind := c.first("input-file"), c.first("custom-dataset-type")
	scheduled := c.first("fixed-schedule") == "true"
	switch {
	case file == "" && scheduled:
		c.fail("--fixed-schedule replays a file, and --input-file is missing")
	case file == "":
		return
	case kind != "mooncake_trace" && (kind != "" || !scheduled):
		c.unmappedFlag("--input-file: a file with a prompt in each line is `prompts`")
		return
	}
	for _, load := range names("concurrency|rate|arrivals|max_in_flight|requests|duration|output") {
		delete(c.run.options, load)
	}
	c.run.sweep = nil
	if requests := c.first("request-count"); requests != "" {
		c.setEach("requests", "", "request-count")
	}
	if sessions := c.first("num-sessions"); sessions != "" {
		c.unmappedFlag("--num-sessions: cut the file of the trace")
	}
	c.set("trace", literal(file))
	c.set("input", inline{{"prefix", literal("as traced")}})
}

// vllmPrompts maps a data set of vllm bench serve that is a file of prompts, and reports whether it is one.
func vllmPrompts(c *call) bool {
	name, file := c.first("dataset-name"), c.first("dataset-path")
	output := c.first(name + "-output-len")
	switch {
	case c.tool.name != "vllm-bench" || name == "random":
		return false
	case name != "sharegpt" && name != "custom" || file == "":
		c.unmappedFlag("--dataset-name %s: prompts of other data sets are a file: `prompts`", name)
	case output == "":
		c.unmappedFlag("--dataset-name %s: answers have the lengths of the file; --sharegpt-output-len gives all one",
			name)
	default:
		c.note("--dataset-name %s: prompts that vllm leaves out for their length are sent too", name)
		c.set("prompts", literal(file))
		o := inline{{"tokens", literal(output)}}
		if c.has("ignore-eos") || c.ignoresEnd() {
			o = append(o, pair{"exact", truth(true)})
		}
		c.set("output", o)
	}
	return true
}

// setArrivals sets how requests of a rate arrive: Poisson, unless the command line says otherwise.
func (c *call) setArrivals(mode, shape string) {
	of := "poisson"
	switch mode {
	case "constant":
		of = mode
	case "", "gamma":
		if shape != "" && !sameValue(shape, "1") {
			of = "gamma:" + shape
		}
	case "poisson":
	default:
		c.fail("%s: %q is none of constant, poisson, gamma", c.shown(c.tool.flag("request-rate-mode")), mode)
	}
	c.set("arrivals", literal(of))
}

// ignoresEnd reports whether further fields of requests ask for whole answers.
func (c *call) ignoresEnd() bool {
	for _, s := range c.given {
		if slices.Contains(fieldFlags, s.flag.Names[0]) {
			text := strings.NewReplacer(" ", "", `"`, "").Replace(s.value)
			if strings.Contains(text, "ignore_eos:true") {
				return true
			}
		}
	}
	return false
}

package importer

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/workload/serving"
)

// Load generators, whose loads workload serving makes itself.
var (
	vllmBench = &tool{name: "vllm-bench", kind: serving.Kind, native: servingRun}
	aiperf    = &tool{name: "aiperf", kind: serving.Kind, native: servingRun}
	genaiPerf = &tool{name: "genai-perf", kind: serving.Kind, native: servingRun}
	curl      = &tool{name: "curl", kind: serving.Kind, native: curlRun}
)

// first returns the value of the first of several flags that the tool has and that is not empty.
func (c *call) first(names ...string) string {
	for _, name := range names {
		if f := c.tool.flag(name); f != nil {
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
}

// loadTimeout is the time limit of a launch: the tools have none, and weir's default of 5 minutes is too short for
// many requests one after the other.
const loadTimeout = "1h"

// servingRun maps the flags of a load generator.
func servingRun(c *call) {
	c.dropEnv()
	c.run.timeout = loadTimeout
	address := c.first("base-url", "url")
	if address == "" {
		address = "http://" + c.first("host") + ":" + c.first("port")
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	c.setEndpoint(address, c.first("endpoint", "endpoint-type"))
	if c.first("model") == "" {
		c.fail("--model is missing")
	}
	c.set("model", literal(c.first("served-model-name", "model")))
	if f := c.tool.flag("streaming"); f != nil && !c.has("streaming") {
		c.set("stream", truth(false))
	}
	if rate := c.first("request-rate"); rate != "" && rate != "inf" {
		c.set("rate", literal(rate+"/s"))
		c.set("arrivals", literal(arrivals(c.first("request-rate-mode"), c.first("burstiness"))))
	}
	switch many, requests := c.first("concurrency", "max-concurrency"), c.first("num-prompts", "request-count"); {
	case many != "" && c.run.options["rate"] != nil:
		c.set("max_in_flight", literal(many))
		fallthrough
	case c.run.options["rate"] != nil:
		c.set("requests", literal(requests))
	default:
		if many == "" {
			many = requests // all at once
		}
		c.set("concurrency", literal(many))
		c.set("requests", literal(requests))
	}
	switch seconds := c.first("benchmark-duration"); {
	case c.first("num-prompts", "request-count") != "":
	case seconds != "":
		delete(c.run.options, "requests")
		c.set("duration", literal(seconds+"s"))
	default:
		many, _ := strconv.Atoi(c.first("concurrency"))
		c.set("requests", count(int64(max(10, 2*many))))
		if many == 0 && c.run.options["rate"] == nil {
			c.set("concurrency", literal("1"))
		}
	}
	input := c.first("random-input-len", "synthetic-input-tokens-mean")
	output := c.first("random-output-len", "output-tokens-mean")
	if input != "" {
		c.set("input", inline{{"tokens", literal(spread(input, c.first("synthetic-input-tokens-stddev")))}})
	}
	if output != "" {
		o := inline{{"tokens", literal(spread(output, c.first("output-tokens-stddev")))}}
		if c.first("ignore-eos") == "true" || c.ignoresEnd() {
			o = append(o, pair{"exact", truth(true)})
		}
		c.set("output", o)
	}
	replayTrace(c)
	if n := c.first("num-warmups", "warmup-request-count"); n != "" {
		c.set("warmup", inline{{"requests", literal(n)}})
	}
	c.setRequests()
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
	if requests := c.first("request-count"); requests != "" {
		c.set("requests", literal(requests))
	}
	c.set("trace", literal(file))
	c.set("input", inline{{"prefix", literal("as traced")}})
}

// arrivals returns how requests of a rate arrive: Poisson, unless the command line says otherwise.
func arrivals(mode, burstiness string) string {
	b, err := strconv.ParseFloat(burstiness, 64)
	switch {
	case mode == "constant":
		return mode
	case err == nil && b != 1:
		return "gamma:" + burstiness
	}
	return "poisson"
}

// ignoresEnd reports whether further fields of requests ask for whole answers.
func (c *call) ignoresEnd() bool {
	for _, s := range c.given {
		if name := s.flag.Names[0]; name == "extra-inputs" || name == "extra-body" {
			text := strings.NewReplacer(" ", "", `"`, "").Replace(s.value)
			if strings.Contains(text, "ignore_eos:true") {
				return true
			}
		}
	}
	return false
}

// spread returns a distribution of tokens.
func spread(mean, deviation string) string {
	if deviation == "" || deviation == "0" {
		return mean
	}
	return "normal:" + mean + "," + deviation
}

// setEndpoint sets the address of a server and the interface that a path or a word names.
func (c *call) setEndpoint(address, of string) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		c.fail("%q is no address of an endpoint", address)
		return
	}
	if strings.Contains(u.Path, "/completions") {
		of = u.Path
	}
	u.Path, _, _ = strings.Cut(u.Path, "/v1")
	c.set("url", literal(strings.TrimSuffix(u.String(), "/")))
	switch {
	case strings.Contains(of, "chat"):
	case strings.Contains(of, "completions"):
		c.set("api", literal("completions"))
	default:
		c.fail("%q is neither chat nor completions, the interfaces that workload serving loads", of)
	}
}

// curlRun maps a request with a body. In a loop over numbers of requests that run together, each number is a
// case of one wave.
func curlRun(c *call) {
	c.dropEnv()
	c.run.timeout = loadTimeout
	address, data := "", ""
	headers := inline{}
	for i := 0; i < len(c.positional); i++ {
		word := c.positional[i]
		next := ""
		if i+1 < len(c.positional) {
			next = c.positional[i+1]
		}
		switch word {
		case "-d", "--data", "--data-raw", "--data-binary", "--json":
			data, i = next, i+1
		case "-H", "--header":
			name, value, _ := strings.Cut(next, ":")
			if !strings.EqualFold(name, "Content-Type") {
				headers = append(headers, pair{name, literal(strings.TrimSpace(value))})
			}
			i++
		case "-o", "-w", "--output", "--write-out", "-X", "--request", "-m", "--max-time", "--connect-timeout":
			i++
		default:
			if strings.Contains(word, "://") || !strings.HasPrefix(word, "-") && address == "" {
				address = word
			}
		}
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(data), &body); err != nil {
		c.fail("curl: -d is no JSON of a request: %q", data)
		return
	}
	c.setEndpoint(address, "")
	model, _ := body["model"].(string)
	c.set("model", literal(model))
	streams, _ := body["stream"].(bool)
	c.set("stream", truth(streams))
	if text := promptOf(body); text != "" {
		c.set("input", inline{{"text", literal(text)}, {"prefix", literal("none")}})
	}
	if n, ok := body["max_tokens"].(float64); ok {
		c.set("output", inline{{"tokens", literal(fmt.Sprint(int64(n)))}})
	}
	for _, known := range []string{"model", "prompt", "messages", "max_tokens", "stream"} {
		delete(body, known)
	}
	c.setBody(body)
	if len(headers) > 0 {
		c.set("headers", headers)
	}
	c.set("warmup", inline{{"waves", literal("0")}})
	if c.loop == nil {
		c.set("concurrency", literal("1"))
		c.set("requests", literal("1"))
		return
	}
	c.run.sweep = mapping{{"zip", mapping{{"concurrency", literals(c.loop...)}, {"requests", literals(c.loop...)}}}}
	c.note("each number of the loop is a case of one wave: as many requests as run together")
}

// promptOf returns the text of a request, that of the last message of a chat.
func promptOf(body map[string]any) string {
	if text, ok := body["prompt"].(string); ok {
		return text
	}
	messages, _ := body["messages"].([]any)
	if len(messages) == 0 {
		return ""
	}
	last, _ := messages[len(messages)-1].(map[string]any)
	text, _ := last["content"].(string)
	return text
}

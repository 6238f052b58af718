package importer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/workload/serving"
)

var evalscope = &tool{name: "evalscope", kind: serving.Kind, native: evalscopeRun}

// evalscopeRun maps evalscope perf. Several values of --parallel or --rate are a sweep, with those of --number.
func evalscopeRun(c *call) {
	c.dropEnv()
	c.run.timeout = loadTimeout
	if of := c.first("api"); of != "openai" {
		c.fail("--api %s: workload serving loads the interface of OpenAI, which is openai", of)
		return
	}
	c.setEndpoint(withScheme(c.first("url")), "")
	c.setModel(c.first("model"))
	c.set("stream", truth(!c.has("no-stream")))
	evalscopeLoad(c)
	evalscopeLengths(c)
	switch n := c.first("warmup-num"); {
	case n == "" || sameValue(n, "0") || isWhole(n):
		c.setWarmup(n)
	default:
		c.unmappedFlag("--warmup-num %s: weir has `warmup: {requests: N}`", n)
	}
	c.setRequests("")
}

// evalscopeLoad maps how many requests there are, and how many in flight or at which rate.
func evalscopeLoad(c *call) {
	option, unit, flag := "concurrency", "", "parallel"
	parallel := strings.Fields(c.first("parallel"))
	requests, rates := strings.Fields(c.first("number")), strings.Fields(c.first("rate"))
	unpaced := slices.Equal(rates, []string{"-1"})
	if unpaced && c.has("open-loop") {
		c.fail("--open-loop needs --rate")
	}
	if !unpaced {
		option, unit, flag = "rate", "/s", "rate"
		c.set("arrivals", literal("poisson"))
		switch {
		case c.has("open-loop"):
		case len(parallel) == 1:
			c.set("max_in_flight", literal(parallel[0]))
		default:
			c.fail("--parallel: evalscope takes one value with --rate")
		}
		parallel = rates
	}
	for _, v := range slices.Concat(strings.Fields(c.first("parallel")), requests) {
		if !isWhole(v) && !unexpanded(v) {
			c.fail("--parallel and --number: %q is not a whole number from 1", v)
			return
		}
	}
	for _, v := range rates {
		if n, err := strconv.ParseFloat(v, 64); err != nil || n == 0 || n < 0 && n != -1 {
			c.fail("--rate: %q is not a number above 0, or -1", v)
			return
		}
	}
	var loads list
	for _, v := range parallel {
		loads = append(loads, literal(v+unit))
	}
	switch {
	case len(loads) == 1 && len(requests) == 1:
		c.set(option, loads[0])
		c.set("requests", literal(requests[0]))
	case len(loads) == len(requests):
		c.run.sweep = mapping{{"zip", mapping{{option, loads}, {"requests", literals(requests...)}}}}
	case len(requests) == 1:
		c.set("requests", literal(requests[0]))
		c.run.sweep = mapping{{option, loads}}
	default:
		c.fail("--number has %d values and --%s %d: evalscope takes as many", len(requests), flag, len(loads))
	}
}

// evalscopeLengths maps the lengths of random prompts and of answers.
func evalscopeLengths(c *call) {
	if name := c.first("dataset"); name != "random" {
		c.unmappedFlag("--dataset %s: prompts of other data sets are a file: `prompts`", name)
		return
	}
	least, most := c.first("min-prompt-length"), c.first("max-prompt-length")
	switch {
	case !c.has("max-prompt-length"):
		c.fail("--max-prompt-length is missing, which the random data set of evalscope needs")
	case least == most:
		c.set("input", inline{{"tokens", literal(most)}})
	default:
		if least == "0" {
			least = "1"
		}
		c.set("input", inline{{"tokens", literal("uniform:" + least + "," + most)}})
	}
	output := inline{{"tokens", literal(c.first("max-tokens"))}}
	if c.ignoresEnd() || c.first("min-tokens") == c.first("max-tokens") {
		output = append(output, pair{"exact", truth(true)})
	}
	c.set("output", output)
}

package importer

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/workload/serving"
)

// apiKey is the variable of the environment from which some load generators take the key of an endpoint.
const apiKey = "OPENAI_API_KEY"

var llmperf = &tool{name: "llmperf", kind: serving.Kind, native: llmperfRun}

// llmperfRun maps token_benchmark_ray.py. Variables of the environment say where the endpoint is, and its key.
func llmperfRun(c *call) {
	address, key := c.taken("OPENAI_API_BASE"), c.taken(apiKey)
	c.dropEnv()
	c.run.timeout = loadTimeout
	if of := c.first("llm-api"); of != "openai" {
		c.fail("--llm-api %s: workload serving loads the interface of OpenAI, which is openai", of)
		return
	}
	if address == "" {
		c.variable("url")
		c.set("url", expression("${var.url}"))
	} else {
		c.setEndpoint(withScheme(address), "chat")
	}
	c.setModel(c.first("model"))
	c.set("concurrency", literal(c.first("num-concurrent-requests")))
	c.set("requests", literal(c.first("max-num-completed-requests")))
	c.warn("--timeout %s: the load ends after --max-num-completed-requests alone", c.first("timeout"))
	side := func(name string) string {
		return spread(c.first("mean-"+name+"-tokens"), c.first("stddev-"+name+"-tokens"))
	}
	c.set("input", inline{{"tokens", literal(side("input"))}})
	output := inline{{"tokens", literal(side("output"))}}
	if c.ignoresEnd() {
		output = append(output, pair{"exact", truth(true)})
	}
	c.set("output", output)
	c.setWarmup("")
	c.setRequests(key)
}

// taken returns the value of a variable of the run's environment, and removes it there. One that only the shell knows
// is $NAME.
func (c *call) taken(name string) (text string) {
	c.run.env = slices.DeleteFunc(slices.Clone(c.run.env), func(v Variable) bool {
		if v.Name == name {
			text = strings.TrimSpace(v.Value)
		}
		return v.Name == name
	})
	c.notes = slices.DeleteFunc(slices.Clone(c.notes), func(n Note) bool {
		unknown := strings.HasPrefix(n.Text, "variable "+name+": ")
		if unknown && text == "" {
			text = "$" + name
		}
		return unknown
	})
	return text
}

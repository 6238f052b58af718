package importer

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/workload/serving"
)

var guidellm = &tool{
	name: "guidellm", kind: serving.Kind, native: guidellmRun, command: loadCommand, settings: guidellmSpecs,
}

// guidellmRun maps guidellm benchmark. Several rates become a sweep, as guidellm makes a benchmark for each.
func guidellmRun(c *call) {
	of := c.guidellmInterface()
	c.refuseVariables()
	c.dropEnv()
	c.run.timeout = loadTimeout
	if c.first("target") == "" {
		c.fail("--target is missing")
		return
	}
	if kind := c.first("backend"); kind != "" && !strings.HasPrefix(kind, "openai") {
		c.unmappedFlag("--backend %s: workload serving loads a server", kind)
	}
	c.setEndpoint(withScheme(c.first("target")), of)
	c.setModel(c.first("model"))
	guidellmProfile(c, c.first("profile"), guidellmRates(c))
	guidellmData(c, c.first("data"))
	c.setWarmup("")
	seconds, requests := c.first("max-seconds"), c.first("max-requests")
	switch {
	case seconds != "":
		if requests != "" {
			c.warn("--max-requests: the load ends after --max-seconds alone")
		}
		c.set("duration", literal(seconds+"s"))
	case requests != "":
		c.set("requests", literal(requests))
	case len(c.unmapped) == 0:
		c.fail("--max-seconds or --max-requests is missing: the load has no end")
	}
}

// guidellmRates are the values of --rate, which may be given several times and with commas.
func guidellmRates(c *call) (all []string) {
	for _, s := range c.given {
		if s.flag.Names[0] == "rate" {
			for rate := range strings.SplitSeq(s.value, ",") {
				all = append(all, strings.TrimSpace(rate))
			}
		}
	}
	return all
}

// searchHint is what to write instead of a sweep of guidellm.
const searchHint = "the highest load that keeps a promise is `search`, as " +
	`{axis: concurrency, from: 1, to: 512, promise: "ttft.p90 <= 500ms"}`

// guidellmProfile maps a profile with its rates.
func guidellmProfile(c *call, profile string, rates []string) {
	option, unit := "concurrency", ""
	switch profile {
	case "synchronous":
		rates = []string{"1"}
	case "concurrent", "throughput":
		if len(rates) == 0 {
			c.unmappedFlag("--profile %s: without --rate the load has no limit; `concurrency` has to be written",
				profile)
			return
		}
	case "constant", "async", "poisson":
		option, unit = "rate", "/s"
		if profile == "poisson" {
			c.set("arrivals", literal(profile))
		}
		if len(rates) == 0 {
			c.fail("--rate is missing")
			return
		}
	case "replay":
		c.unmappedFlag("--profile %s: requests with their times are `trace`", profile)
		return
	case "sweep", "goodput", "knee":
		c.unread = true
		c.unmappedFlag("--profile %s: %s", profile, searchHint)
		return
	default:
		c.fail("%s: guidellm has no profile %q; it has synchronous, concurrent, throughput, constant, async, poisson, "+
			"sweep, replay", c.shown(c.tool.flag("profile")), profile)
		return
	}
	var values []string
	for _, r := range rates {
		if n, err := strconv.ParseFloat(r, 64); err != nil || !(n > 0) {
			c.fail("--rate: %q is not a number above 0", r)
			return
		}
		values = append(values, r+unit)
	}
	if len(values) == 1 {
		c.set(option, literal(values[0]))
		return
	}
	c.run.sweep = mapping{{option, literals(values...)}}
}

// guidellmData maps the lengths of synthetic prompts, written as key=value,… or as JSON.
func guidellmData(c *call, text string) {
	sets := 0
	for _, s := range c.given {
		if s.flag == c.tool.flag("data") {
			sets++
		}
	}
	if sets > 1 {
		c.unmappedFlag("--data: %d data sets are not mixed; a run has one", sets)
		return
	}
	if text == "" {
		c.unmappedFlag("--data is missing: weir has to know the lengths of prompts")
		return
	}
	length := map[string]string{}
	var fields map[string]json.Number
	if json.Unmarshal([]byte(text), &fields) == nil {
		for name, n := range fields {
			length[name] = n.String()
		}
	} else {
		for field := range strings.SplitSeq(text, ",") {
			name, value, found := strings.Cut(field, "=")
			if !found {
				c.unmappedFlag("--data %s: prompts of other data sets are a file: `prompts`", text)
				return
			}
			length[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	for _, side := range []struct{ option, name string }{{"input", "prompt_tokens"}, {"output", "output_tokens"}} {
		if n := length[side.name]; n != "" {
			fields := inline{{"tokens", literal(spread(n, length[side.name+"_stdev"]))}}
			if side.option == "output" { // its requests ignore the end of a sequence
				fields = append(fields, pair{"exact", truth(true)})
			}
			c.set(side.option, fields)
		}
		delete(length, side.name)
		delete(length, side.name+"_stdev")
	}
	for _, name := range sortedKeys(length) {
		c.unmappedFlag("--data %s: weir has lengths with a mean and a deviation", name)
	}
}

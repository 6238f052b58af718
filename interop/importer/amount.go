package importer

import (
	"math"
	"strconv"
	"strings"
)

// setAmount sets how many requests are in flight, and how many or how long there are.
func setAmount(c *call) {
	flags := []string{"concurrency", "max-concurrency"}
	many := c.first(flags...)
	requests, seconds := c.first("num-prompts", "request-count"), c.first("benchmark-duration")
	if n := c.first("num-sessions"); requests == "" {
		requests = n // of one turn
	} else if n != "" {
		c.warn("--num-sessions: the load ends after --request-count alone")
	}
	switch paced := c.run.options["arrivals"] != nil; {
	case many != "" && paced:
		c.setEach("max_in_flight", "", flags...)
	case many != "":
		c.setEach("concurrency", "", flags...)
	case paced:
	case c.tool.flag("request-count") == nil:
		c.set("concurrency", literal(requests)) // all at once
	default:
		c.set("concurrency", literal("1"))
	}
	switch {
	case requests != "":
		c.setEach("requests", "", "num-prompts", "request-count", "num-sessions")
		if seconds != "" {
			c.warn("--benchmark-duration: the load ends after --request-count alone")
		}
	case seconds != "":
		c.setEach("duration", "s", "benchmark-duration")
	case c.tool.name == "genai-perf":
		c.warn("--request-count is missing: versions of genai-perf differ in how many requests they send then")
		n, _ := strconv.Atoi(many)
		c.set("requests", count(int64(max(10, 2*n))))
	default:
		c.note("--request-count is missing: aiperf 0.13 sends 10 requests then, earlier versions also two for each of " +
			"--concurrency")
		c.set("requests", literal("10"))
	}
}

// setEach sets an option to the value of the first flag that has one, or sweeps it over those of aiperf's lists.
func (c *call) setEach(option, unit string, flags ...string) {
	var all list
	for n := range strings.SplitSeq(c.first(flags...), ",") {
		n = strings.TrimSpace(n)
		x, err := strconv.ParseFloat(n, 64)
		switch {
		case isWhole(n):
		case unit == "":
			c.fail("%s: %q is not a whole number from 1", c.shownFirst(flags...), n)
			return
		case err != nil || !(x > 0) || math.IsInf(x, 0):
			c.fail("%s: %q is not a number above 0", c.shownFirst(flags...), n)
			return
		}
		all = append(all, literal(n+unit))
	}
	if len(all) == 1 {
		c.set(option, all[0])
		return
	}
	c.run.sweep = append(c.run.sweep, pair{option, all})
}

// shownFirst formats the first of several flags that has a value.
func (c *call) shownFirst(flags ...string) string {
	for _, name := range flags {
		if f := c.tool.flag(name); f != nil && c.first(name) != "" {
			return c.shown(f)
		}
	}
	return dashed(flags[0])
}

// refuseSeveral fails if a flag has several values, over which a tool spreads its requests.
func (c *call) refuseSeveral(flags ...string) {
	for _, name := range flags {
		var all []string
		for _, s := range c.given {
			if s.flag == c.tool.flag(name) {
				all = append(all, strings.Split(s.value, ",")...)
			}
		}
		if len(all) > 1 && (c.tool.name == "aiperf" || c.tool.name == "genai-perf") {
			c.fail("%s %s: a run loads one; write a line for each, or a loop over them",
				c.shown(c.tool.flag(name)), strings.Join(all, " "))
		}
	}
}

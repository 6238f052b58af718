package importer

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// setLengths sets the lengths of prompts and answers.
func setLengths(c *call) {
	input := c.first("random-input-len", "synthetic-input-tokens-mean")
	output := c.first("random-output-len", "output-tokens-mean")
	switch ratio := c.first("random-range-ratio"); {
	case c.tool.name == ofSglang:
		input, output = sglangLength(c, input), sglangLength(c, output)
	case ratio != "" && !sameValue(ratio, "0"):
		input, output = vllmLengths(c, ratio, input, output)
	}
	if input != "" {
		c.set("input", inline{{"tokens", c.lengths("input_tokens", input, c.first("synthetic-input-tokens-stddev"))}})
	}
	if output != "" {
		o := inline{{"tokens", c.lengths("output_tokens", output, c.first("output-tokens-stddev"))}}
		whole := c.tool.name == ofSglang && !c.has("disable-ignore-eos")
		if whole || c.first("ignore-eos") == "true" || c.ignoresEnd() {
			o = append(o, pair{"exact", truth(true)})
		}
		c.set("output", o)
	}
}

// lengths returns a distribution of tokens, or an axis over those of aiperf's lists.
func (c *call) lengths(axis, mean, deviation string) value {
	means := strings.Split(mean, ",")
	if strings.Contains(mean, ":") || len(means) == 1 && !strings.Contains(deviation, ",") {
		return literal(spread(mean, deviation))
	}
	var all list
	for _, m := range means {
		if !isWhole(m) {
			c.fail("%s: %q is not a whole number from 1", axis, m)
		}
		for d := range strings.SplitSeq(deviation, ",") {
			all = append(all, literal(spread(m, d)))
		}
	}
	c.run.sweep = append(c.run.sweep, pair{axis, all})
	return expression("${axis." + axis + "}")
}

// spread returns a distribution of tokens.
func spread(mean, deviation string) string {
	if deviation == "" || deviation == "0" {
		return mean
	}
	return "normal:" + mean + "," + deviation
}

// sglangLength returns the distribution of lengths of the random data set: from random-range-ratio of a length to it.
func sglangLength(c *call, most string) string {
	switch name := c.first("dataset-name"); name {
	case "random", "random-ids":
	default:
		if len(c.unmapped) == 0 {
			c.unmappedFlag("--dataset-name %s: prompts of other data sets are a file: `prompts`", name)
		}
		return ""
	}
	ratio, err := strconv.ParseFloat(c.first("random-range-ratio"), 64)
	n, wrong := strconv.ParseInt(most, 10, 64)
	if err != nil || wrong != nil || ratio < 0 || ratio > 1 {
		c.fail("--random-range-ratio: %q is not from 0 to 1", c.first("random-range-ratio"))
		return ""
	}
	least := max(1, int64(float64(n)*ratio))
	if least >= n {
		return most
	}
	return "uniform:" + strconv.FormatInt(least, 10) + "," + most
}

// sglangPort is the port of a backend's server without --port.
func sglangPort(backend string) string {
	switch backend {
	case "vllm":
		return "8000"
	case "lmdeploy":
		return "23333"
	}
	return "30000"
}

// vllmLengths returns the distributions of the random data set: from 1 - ratio to 1 + ratio of a length. The ratio is
// a number, or one each for input and output.
func vllmLengths(c *call, ratio, input, output string) (of, to string) {
	if c.program() == "benchmark_serving.py" {
		const differ = "versions of benchmark_serving.py differ: lengths are from 1 - ratio to 1 + ratio of the length, or from ratio of the length to it; they are `input: {tokens: uniform:A,B}`"
		c.unmappedFlag("--random-range-ratio %s: %s", ratio, differ)
		return input, output
	}
	each := struct{ Input, Output json.Number }{json.Number(ratio), json.Number(ratio)}
	if strings.HasPrefix(ratio, "{") {
		each.Input, each.Output = "", ""
		if json.Unmarshal([]byte(ratio), &each) != nil || each.Input == "" || each.Output == "" {
			c.fail("--random-range-ratio: %q has no numbers input and output", ratio)
			return input, output
		}
	}
	return c.around(input, each.Input.String()), c.around(output, each.Output.String())
}

// around returns a uniform distribution of lengths around a mean.
func (c *call) around(mean, ratio string) string {
	n, wrong := strconv.ParseInt(mean, 10, 64)
	share, err := strconv.ParseFloat(ratio, 64)
	if err != nil || wrong != nil || share < 0 || share >= 1 {
		c.fail("--random-range-ratio: %q is not from 0 to below 1", ratio)
		return mean
	}
	if share == 0 {
		return mean
	}
	least, most := math.Floor(float64(n)*(1-share)), math.Ceil(float64(n)*(1+share))
	return fmt.Sprintf("uniform:%.0f,%.0f", max(1, least), most)
}

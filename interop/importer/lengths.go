package importer

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

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

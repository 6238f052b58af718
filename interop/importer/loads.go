package importer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/interop/output"
	"github.com/weir-bench/weir/results"
)

// ofLoad begins the names of options of an imported case that say what its load was.
const ofLoad = "load."

// Strategies of guidellm that have no number of their own.
const (
	oneByOne  = "synchronous"
	allTheirs = "throughput" // as many requests in flight as the tool allows
)

// unsaidRequests is what a file lacks that has no number of requests.
const unsaidRequests = "how many requests it has (variable requests)"

// axesOfRow are the axes of a row's load with their values and their texts.
func axesOfRow(row output.Row) (axes []axisValue) {
	strategy := row.At["strategy"]
	if strategy == allTheirs {
		return nil
	}
	for _, name := range loads {
		text := row.At[name]
		if name == "concurrency" && strategy == oneByOne {
			text = "1"
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v <= 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			continue
		}
		one := axisValue{name, strconv.FormatFloat(v, 'f', -1, 64), v}
		switch {
		case name == byRate:
			one.text = quantity.PerSecond(v).String()
			one.value = one.text
		case len(axes) > 0: // a load by a rate has a bound of requests in flight
			one.axis = "max_in_flight"
		}
		axes = append(axes, one)
	}
	return axes
}

// axisValue is the value of an axis of a case.
type axisValue struct {
	axis, text string
	value      any
}

// kindOfLoad is the suffix of the run of a row: one for all loads of the same axes. That of closed loads is "".
func kindOfLoad(row output.Row) string {
	axes := axesOfRow(row)
	switch {
	case len(axes) == 0:
		return "_" + allTheirs
	case axes[0].axis == "concurrency":
		return ""
	}
	var names []string
	for _, a := range axes {
		names = append(names, a.axis)
	}
	return "_" + strings.Join(names, "_")
}

// runsOfRows returns the name of the run of each row. Loads of several kinds cannot be the cases of one run.
func runsOfRows(rows []output.Row, run string) (names []string) {
	kinds := map[string]bool{}
	for _, row := range rows {
		kinds[kindOfLoad(row)] = true
	}
	for _, row := range rows {
		if len(kinds) == 1 {
			names = append(names, run)
			continue
		}
		names = append(names, run+kindOfLoad(row))
	}
	return names
}

// told is what the file of a case says of its load; "": nothing.
func told(c *results.Case, name string) string {
	text, _ := c.Options[ofLoad+name].(string)
	return text
}

// loadOf returns the options of workload serving for the load of an imported case, and names what its file does not
// say.
func loadOf(c *results.Case) (options []pair, unsaid []string) {
	add := func(option string, v value) { options = append(options, pair{option, v}) }
	lacks := func(what string) { unsaid = append(unsaid, what) }
	switch api := told(c, "api"); {
	case strings.Contains(api, "chat"):
	case strings.Contains(api, "completions"), slices.Contains(names("openai|vllm|sglang-oai"), api):
		add("api", literal("completions"))
	default:
		lacks("the interface (api: chat or completions)")
	}
	_, streamed := c.Launches[0].Metrics.Get("ttft.p50")
	_, also := c.Launches[0].Metrics.Get("ttft.avg")
	if said := told(c, "streaming"); said == "false" || said == "" && !streamed && !also {
		add("stream", truth(false))
	}
	requests := told(c, "requests")
	if !isWhole(requests) {
		n, _ := c.Launches[0].Metrics.Get("requests")
		if requests = ""; n >= 1 {
			requests = strconv.FormatInt(int64(n), 10)
		}
	}
	atOnce := told(c, "at_once") == "true" || told(c, "arrivals") == allTheirs
	switch how := arrivalsTold(told(c, "arrivals"), told(c, "burstiness")); {
	case len(c.AxisOrder) == 0 && atOnce && requests != "":
		add("concurrency", literal(requests))
	case len(c.AxisOrder) == 0:
		lacks("how many requests are in flight (concurrency)")
	case c.AxisOrder[0] != byRate:
	case how == "":
		lacks("how requests arrive (arrivals)")
	default:
		add("arrivals", literal(how))
	}
	switch seconds, err := strconv.ParseFloat(told(c, "duration"), 64); {
	case !isWhole(told(c, "requests")) && err == nil && seconds > 0:
		add("duration", literal(strconv.FormatFloat(seconds, 'f', -1, 64)+"s"))
	case requests != "":
		add("requests", literal(requests))
	default:
		lacks(unsaidRequests)
		add("requests", expression("${var.requests}"))
	}
	if tokens := tokensTold(c, "input"); tokens != "" {
		add("input", inline{{"tokens", literal(tokens)}})
	} else {
		lacks("the lengths of prompts (input)")
	}
	if tokens := tokensTold(c, "output"); tokens != "" {
		o := inline{{"tokens", literal(tokens)}}
		if exact := told(c, "exact"); strings.EqualFold(exact, "true") {
			o = append(o, pair{"exact", truth(true)})
		} else if exact == "" {
			lacks("whether answers ignore the end of a sequence (output: exact)")
		}
		add("output", o)
	} else {
		lacks("the lengths of answers (output)")
	}
	if n := told(c, "warmup"); isWhole(n) {
		add("warmup", inline{{"requests", literal(n)}})
	} else {
		lacks("its warm-up (warmup)")
	}
	add("window", literal("whole")) // as the tools define throughput
	return options, unsaid
}

func isWhole(text string) bool {
	n, err := strconv.ParseInt(text, 10, 64)
	return err == nil && n > 0
}

// arrivalsTold returns option arrivals for the word of a tool; "": it is not known.
func arrivalsTold(word, burstiness string) string {
	shape, err := strconv.ParseFloat(burstiness, 64)
	switch {
	case err == nil && math.IsInf(shape, 1), word == "constant":
		return "constant"
	case err == nil && shape != 1:
		return "gamma:" + burstiness
	case err == nil, word == "poisson", word == "request_rate":
		return "poisson"
	}
	return ""
}

// tokensTold returns the distribution of the lengths of a side, input or output; "": the file says nothing.
func tokensTold(c *results.Case, side string) string {
	mean, err := strconv.ParseFloat(told(c, side), 64)
	ratio, known := strconv.ParseFloat(told(c, "range"), 64)
	total, also := strconv.ParseFloat(told(c, side+".total"), 64)
	completed, some := strconv.ParseFloat(told(c, "completed"), 64)
	switch {
	case err == nil && known == nil && ratio >= 0 && ratio < 1 && mean >= 1:
		return fmt.Sprintf("uniform:%d,%d", max(1, int64(mean*ratio)), int64(mean))
	case also == nil && some == nil && completed > 0 && (err != nil || known != nil):
		mean = total / completed
	case err != nil:
		return ""
	}
	if mean = math.Round(mean); !(mean >= 1 && mean < 1<<40) {
		return ""
	}
	deviation, _ := strconv.ParseFloat(told(c, side+".sd"), 64)
	return spread(strconv.FormatFloat(mean, 'f', -1, 64), strconv.FormatFloat(math.Round(deviation), 'f', -1, 64))
}

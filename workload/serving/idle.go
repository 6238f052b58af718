package serving

import (
	"weir/serving/prompt"
	"weir/workload"
)

// idle are the options that change nothing beside these others, with the reason.
func idle(v workload.Values) map[string]string {
	get := Kind.Get(v)
	text := func(option string) string {
		s, _ := get(option).(string)
		return s
	}
	search, _, _ := readSearch(text("search")) // which was checked as an option, as the others were
	trace, open := text("trace_rows") != "", due(get, search)
	out := map[string]string{}
	say := func(option, why string) {
		if o, _ := Kind.Option(option); get(option) != o.Default {
			out[option] = why
		}
	}
	switch {
	case trace:
		say("arrivals", "the trace says when requests are due")
	case !open:
		say("arrivals", "a closed load sends its next request when one has ended: give rate, ramp or a search along rate")
	}
	if _, k, err := readInput(text("input")); err == nil && k["tokens"] != "" {
		switch {
		case trace:
			say("input", "its tokens are those of the rows of the trace")
		case text("prompt_lines") != "":
			say("input", "its tokens are those of the prompts of the file")
		}
	}
	if !trace {
		say("time_scale", "it stretches the times of a trace, and the run has none")
	}
	if get("turns") == int64(1) {
		say("think", "it is the time between two turns of a conversation, which has one: give turns")
	}
	if !open {
		say("max_in_flight", "a closed load has as many requests in flight as concurrency says")
	}
	if d, _ := workload.Number(get("duration")); d == 0 {
		say("grace", "it follows duration, which is not given")
	}
	if streams, _ := get("stream").(bool); !streams {
		wholeAnswers(text, say)
	}
	return out
}

// caution are the options that may make figures mean something else than they seem to.
func caution(v workload.Values) map[string]string {
	text, _ := Kind.Get(v)("input").(string)
	if in, _, err := readInput(text); err == nil && in.Prefix.None {
		return map[string]string{"input": "with prefix: none equal prompts are sent again, also in the warm-up, " +
			"so a prefix cache of the server may have them, and times are then of the cache"}
	}
	return nil
}

// wholeAnswers tells the options that are about the events of a stream.
func wholeAnswers(text func(option string) string, say func(option, why string)) {
	if promised, _, _ := readSLO(text("slo")); promised.TTFT > 0 || promised.ITL > 0 {
		say("slo", "its ttft and itl are of the events of a stream, and stream is false: promise latency")
	}
	if c, _ := prompt.ParseCancel(text("cancel")); c.Events > 0 {
		say("cancel", "tokens are counted by the events of a stream, and stream is false: cancel after a time")
	}
}

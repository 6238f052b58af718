package serving

import (
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload/serving/prompt"
)

// Idle returns the options without effect beside these others, each with the reason.
func (behaviour) Idle(v option.Values) map[string]string {
	get := Kind.Get(v)
	text := func(option string) string {
		s, _ := get(option).(string)
		return s
	}
	search, _ := readSearch(text("search")) // all options have been validated
	trace, open := text("trace_rows") != "", due(get, search)
	out := map[string]string{}
	say := func(option, why string) {
		if o, _ := Kind.Option(option); get(option) != o.Default {
			out[option] = why
		}
	}
	switch {
	case trace:
		say("arrivals", "the trace has the times of requests")
	case !open:
		say("arrivals", "a closed load sends its next request when one ends: give rate, ramp or a search along rate")
	}
	in := inputOf(text("input"))
	count := in.Tokens.Known() && in.Tokens != defaultInput.Tokens
	switch fromFile := text("prompt_lines") != ""; {
	case trace && count:
		say("input", "the trace has the tokens of prompts")
	case fromFile && in.Text != "":
		say("input", "the prompts of the file are sent, not its text")
	case fromFile && count:
		say("input", "the prompts of the file have their own tokens")
	}
	if !trace {
		say("time_scale", "it scales the times of a trace, and the run has none")
	}
	if get("turns") == int64(1) {
		say("think", "it is the time between turns of a conversation, which has only one: give turns")
	}
	if !open {
		say("max_in_flight", "concurrency limits the requests in flight of a closed load")
	}
	if d, _ := option.Number(get("duration")); d == 0 {
		say("grace", "it follows duration, which is not given")
	}
	if streams, _ := get("stream").(bool); !streams {
		wholeAnswers(text, say)
	}
	return out
}

// Caution returns options that may change the meaning of metrics unexpectedly.
func (behaviour) Caution(v option.Values) map[string]string {
	text, _ := Kind.Get(v)("input").(string)
	if inputOf(text).Prefix.None {
		return map[string]string{"input": "with prefix: none equal prompts are sent again, also in the warm-up, " +
			"so the server may answer them from a prefix cache"}
	}
	return nil
}

// wholeAnswers reports the options that need the events of a stream.
func wholeAnswers(text func(option string) string, say func(option, why string)) {
	if promised := sloOf(text("slo")); promised.TTFT > 0 || promised.ITL > 0 {
		say("slo", "ttft and itl need the events of a stream, but stream is false: use latency")
	}
	if c, _ := prompt.ParseCancel(text("cancel")); c.Events > 0 {
		say("cancel", "tokens are counted by the events of a stream, but stream is false: cancel after a time")
	}
}

package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload/serving/load"
)

func usageOf(members string) string { return event(`{"choices":[],"usage":{` + members + `}}`) }

// A usage counts if it is plausible for its answer, which has four events here and ten requested tokens.
func TestPlausibleUsageCounts(t *testing.T) {
	counted := func(prompt, completion any) string {
		return usageOf(fmt.Sprintf(`"prompt_tokens":%v,"completion_tokens":%v`, prompt, completion))
	}
	for name, c := range map[string]struct {
		pieces  string // after four events
		output  int
		source  load.TokenSource
		outcome load.Outcome
		text    string // of the doubt, or the error
	}{
		"plain":               {counted(9, 10), 10, load.ByUsage, load.OK, ""},
		"as many as events":   {counted(9, 4), 4, load.ByUsage, load.OK, ""},
		"floats":              {counted("9.0", "1e1"), 10, load.ByUsage, load.OK, ""},
		"numbers in quotes":   {counted(`"9"`, `"10"`), 10, load.ByUsage, load.OK, ""},
		"more than was asked": {counted(9, 84), 84, load.ByUsage, load.OK, ""},
		"the last counts":     {counted(9, 400) + counted(9, 7), 7, load.ByUsage, load.OK, ""},
		"empty ones are none": {counted(9, 7) + usageOf(""), 7, load.ByUsage, load.OK, ""},
		"0 first":             {counted(9, 0) + counted(9, 7), 7, load.ByUsage, load.OK, ""},

		"reasoning": {
			usageOf(`"completion_tokens":400,"reasoning_tokens":390`), 400, load.ByUsage, load.OK, "",
		},
		"too many and reasoning": {
			usageOf(`"completion_tokens":400,"reasoning_tokens":300`), 4, load.ByEvents, load.OK, "far more tokens",
		},
		"nothing":          {usageOf(""), 4, load.ByEvents, load.OK, ""},
		"null":             {counted("null", "null"), 4, load.ByEvents, load.OK, ""},
		"prompt only":      {usageOf(`"prompt_tokens":9`), 4, load.ByEvents, load.OK, ""},
		"0":                {counted(9, 0), 4, load.ByEvents, load.OK, "0 tokens"},
		"0 at last":        {counted(9, 7) + counted(9, 0), 4, load.ByEvents, load.OK, "0 tokens"},
		"of one event":     {counted(9, 1), 4, load.ByEvents, load.OK, "fewer tokens"},
		"far too many":     {counted(9, 85), 4, load.ByEvents, load.OK, "far more tokens"},
		"2^63-1":           {counted(9, "9223372036854775807"), 4, load.ByEvents, load.OK, "far more tokens"},
		"1e999":            {counted(9, "1e999"), 4, load.ByEvents, load.OK, "far more tokens"},
		"a prompt of 2^63": {counted("9223372036854775807", 7), 4, load.ByEvents, load.OK, "the prompt"},

		"negative":       {counted(9, -7), -1, load.ByNobody, load.Malformed, "usage counts -7 tokens"},
		"a negative one": {counted(-9, 7), -1, load.ByNobody, load.Malformed, "usage counts -9 tokens"},
		"half a token":   {counted(9, 7.5), -1, load.ByNobody, load.Malformed, "usage counts 7.5 tokens"},
		"a text":         {counted(9, `"seven"`), -1, load.ByNobody, load.Malformed, "another form"},
		"an empty text":  {counted(9, `""`), -1, load.ByNobody, load.Malformed, "another form"},
		"true":           {counted(9, "true"), -1, load.ByNobody, load.Malformed, "another form"},
		"a list": {
			event(`{"choices":[],"usage":[]}`), -1, load.ByNobody, load.Malformed, "another form",
		},
		"many digits": {
			counted(9, strings.Repeat("1", 1000)), -1, load.ByNobody, load.Malformed, "another form",
		},
		"cached > prompt": {
			usageOf(`"prompt_tokens":1,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":2}`), -1,
			load.ByNobody, load.Malformed, "2 cached tokens in a prompt of 1",
		},
	} {
		rec := record()
		rec.AskedOutput = 10
		at := int64(0)
		limits := limits
		limits.Prompt = 100
		r := NewReader(rec, limits, func() int64 { at++; return at }, nil)
		err := r.Events(&pieces{[]string{token, token, token, token, c.pieces, finish + end}, nil})
		if err != nil || rec.Outcome != c.outcome || rec.Output != c.output || rec.Source != c.source ||
			!strings.Contains(rec.Doubt+rec.Error, c.text) || c.text == "" && rec.Doubt+rec.Error != "" {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
}

// Without a requested number of tokens, any number below the limit counts.
func TestUsageOfAnAnswerOfAnyLength(t *testing.T) {
	for tokens, source := range map[int]load.TokenSource{
		50_000: load.ByUsage, 1 << 20: load.ByUsage, 1<<20 + 1: load.ByEvents,
	} {
		rec, err := read(&pieces{[]string{token, usageOf(fmt.Sprintf(`"completion_tokens":%d`, tokens)), end}, nil})
		if err != nil || rec.Source != source || rec.Input != load.Unknown {
			t.Errorf("%d: %+v, %v", tokens, rec, err)
		}
	}
}

// Token counts of events that contradict the last usage are dropped, also for a cancelled answer.
func TestTokensOfEventsAreThoseOfTheLastUsage(t *testing.T) {
	counted := func(tokens ...int) (out []string) {
		for _, n := range tokens {
			out = append(out, event(fmt.Sprintf(`{"choices":[{"text":"a"}],"usage":{"completion_tokens":%d}}`, n)))
		}
		return out
	}
	for name, c := range map[string]struct {
		pieces []string
		last   int32
		output int
	}{
		"cumulative":       {append(counted(1, 3, 4), end), 4, 4},
		"each says 1":      {append(counted(1, 1, 1), end), load.Unknown, 3},
		"a million once":   {append(counted(1, 1<<20, 4), end), load.Unknown, 4},
		"a million always": {append(counted(1<<21, 2<<21, 3<<21), end), load.Unknown, 3},
		"cancelled":        {counted(1, 3, 4), 4, 4},
		"cancelled, 1":     {counted(1, 1, 1), load.Unknown, load.Unknown},
	} {
		rec, n := record(), 0
		more := func(int) bool { n++; return n < 3 || len(c.pieces) > 3 }
		r := NewReader(rec, limits, func() int64 { return 1 }, more)
		_ = r.Events(&pieces{c.pieces, nil})
		if len(rec.Events) != 3 || rec.Events[2].Tokens != c.last || rec.Output != c.output {
			t.Errorf("%s: %+v", name, rec)
		}
	}
}

// A complete answer is counted as a stream is.
func TestUsageOfWholeAnswers(t *testing.T) {
	for usage, c := range map[string]struct {
		output int
		source load.TokenSource
	}{
		`{"prompt_tokens":3,"completion_tokens":2.0}`: {2, load.ByUsage},
		`{"prompt_tokens":3,"completion_tokens":0}`: {
			load.Unknown, load.ByEvents}, `{}`: {load.Unknown, load.ByEvents},
	} {
		rec := record()
		err := NewReader(rec, limits, func() int64 { return 5 }, nil).
			Whole(strings.NewReader(`{"choices":[{"message":{"content":"hi"}}],"usage":` + usage + `}`))
		if err != nil || rec.Outcome != load.OK || rec.Output != c.output || rec.Source != c.source {
			t.Errorf("%s: %+v, %v", usage, rec, err)
		}
	}
}

// Reasoning that usage counts and no event brings was generated before the first event, and counts with it.
func TestReasoningThatNoEventBrings(t *testing.T) {
	details := func(of string) string {
		return usageOf(fmt.Sprintf(`"completion_tokens":10,%q:{"reasoning_tokens":6,"audio_tokens":0}`, of))
	}
	counted := event(`{"choices":[{"delta":{"content":"a"}}],"usage":{"completion_tokens":7}}`)
	hidden, none := details("completion_tokens_details"), int32(load.Unknown)
	for name, c := range map[string]struct {
		pieces []string
		first  int32
	}{
		"hidden":          {[]string{token, token, hidden}, 7},
		"named as output": {[]string{token, token, details("output_tokens_details")}, 7},
		"beside the others": {
			[]string{token, token, usageOf(`"completion_tokens":10,"reasoning_tokens":6`)}, 7,
		},
		"of all but as many events": {[]string{token, token, token, token, hidden}, 7},

		"brought": {[]string{thought, token, hidden}, none},
		"brought in a part": {
			[]string{delta(`"content":[{"thinking":"a"}]`), token, hidden}, none,
		},
		"brought as marked content": {
			[]string{token, event(`{"choices":[{"delta":{"content":"\u003c/think\u003e"}}]}`), hidden}, none,
		},
		"brought as content": {[]string{strings.Repeat(token, 5), hidden}, none},
		"none":               {[]string{token, token, usageOf(`"completion_tokens":10,"reasoning_tokens":0`)}, none},
		"null": {
			[]string{token, usageOf(`"completion_tokens":10,"completion_tokens_details":null`)}, none,
		},
		"implausible usage":    {[]string{token, token, usageOf(`"completion_tokens":1,"reasoning_tokens":6`)}, none},
		"each event has usage": {[]string{counted, token, hidden}, 7},
	} {
		rec, err := read(&pieces{append(c.pieces, finish, end), nil})
		marked := c.first == 7 && name != "each event has usage"
		if err != nil || rec.Outcome != load.OK || rec.Events[0].Tokens != c.first || rec.Hidden != marked {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
}

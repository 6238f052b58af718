package stream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-bench/weir/workload/serving/load"
)

func delta(members string) string {
	return event(`{"choices":[{"index":0,"delta":{` + members + `}}]}`)
}

// Any non-empty member of a delta is output, for times and counts.
func TestNonEmptyMembersAreOutput(t *testing.T) {
	for members, want := range map[string]struct{ output, visible bool }{
		`"content":"a"`:                          {true, true},
		`"content":"\n"`:                         {true, true},
		`"content":[{"type":"text","text":"a"}]`: {true, true},
		`"content":["a"]`:                        {true, true},
		`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]`: {true, false},
		`"reasoning_content":"hm"`:      {true, false},
		`"reasoning":"hm","content":""`: {true, false},
		`"reasoning_details":[{"type":"reasoning.text","text":"hm"}],"content":""`: {true, false},
		`"thinking":"hm"`:                  {true, false},
		`"refusal":"no"`:                   {true, false},
		`"audio":{"id":"a","data":"AAAA"}`: {true, false},
		`"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]`: {true, false},
		`"tool_calls":[{"index":0,"function":{"arguments":"{"}}]`:                                      {true, false},
		`"function_call":{"arguments":"{"}`:                                                            {true, false},
		`"not_known":"x"`:                                                                              {true, false},
		`"not_known":[7]`:                                                                              {true, false},
		`"not_known":{"a":{"b":1}}`:                                                                    {true, false},

		`"role":"assistant"`:         {},
		`"content":""`:               {},
		`"content":null,"role":null`: {},
		`"role":"assistant","name":"bot","channel":"final","recipient":"all","phase":"answer","status":"typing"`: {},
		`"content":[]`:                          {},
		`"content":[{"type":"text","text":""}]`: {},
		`"tool_calls":[],"function_call":null`:  {},
		`"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"","arguments":""}}]`: {},
		`"reasoning_details":[{"type":"reasoning.text","text":"","index":0}]`:                         {},
		`"audio":{"id":"a"},"reasoning":"","index":3,"id":"x","final":true,"score":1.5,"y":{}`:        {},
	} {
		rec, err := read(&pieces{[]string{delta(members), delta(`"content":"last"`), end}, nil})
		first, content := int64(2), int64(2)
		if want.output {
			first = 1
		}
		if want.visible {
			content = 1
		}
		if err != nil || rec.First != first || rec.FirstContent != content || rec.Output != int(3-first) {
			t.Errorf("%s: %+v, %v", members, rec, err)
		}
	}
}

func TestTextOfContentThatIsAList(t *testing.T) {
	rec, err := read(&pieces{[]string{
		delta(`"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]`),
		event(`{"choices":[{"text":"c","message":{"content":"c"}}]}`), end,
	}, nil})
	if err != nil || rec.Answer != "abc" {
		t.Errorf("%+v, %v", rec, err)
	}
}

// Empty events before the first output are counted: the tokens in them are not in its time.
func TestBlankEventsBeforeTheFirst(t *testing.T) {
	blank := delta(`"content":""`)
	for name, c := range map[string]struct {
		pieces []string
		blank  int
	}{
		"none":        {[]string{role, token, end}, 0},
		"two":         {[]string{role, blank, blank, token, blank, finish, end}, 2},
		"completions": {[]string{event(`{"choices":[{"text":""}]}`), token, end}, 1},
		"no choice":   {[]string{event(`{"choices":[]}`), token, end}, 0},
	} {
		if rec, err := read(&pieces{c.pieces, nil}); err != nil || rec.Blank != c.blank {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
}

// An answer above a limit is malformed, and nothing of it is kept.
func TestAnswersAreBounded(t *testing.T) {
	big := strings.Repeat("x", 900<<10)
	for name, c := range map[string]struct {
		pieces []string
		limits Limits
		text   string
	}{
		"bytes": {
			[]string{delta(`"content":"` + big + `"`), delta(`"content":"` + big + `"`), end},
			Limits{Bytes: 1 << 20, Events: 9}, "longer than 1MiB",
		},
		"comments": {
			[]string{": " + big + "\n", ": " + big + "\n"}, Limits{Bytes: 1 << 20, Events: 9}, "longer than 1MiB",
		},
		"a line": {
			[]string{"data: " + big, big}, Limits{Bytes: 1 << 30, Events: 9}, "a line of more than 1048576 bytes",
		},
		"an event": {
			[]string{"data: " + big + "\n", "data: " + big + "\n"}, Limits{Bytes: 1 << 30, Events: 9},
			"an event of more than 1048576 bytes",
		},
		"events": {[]string{token, token, token, end}, Limits{Bytes: 1 << 30, Events: 2}, "more than 2 events"},
		"text": {
			[]string{token, token, token, end}, Limits{Bytes: 1 << 30, Events: 9, Text: 2},
			"more than 2 bytes of text",
		},
		"text, a list": {
			[]string{delta(`"content":[{"text":"abc"}]`), end}, Limits{Bytes: 1 << 30, Events: 9, Text: 2},
			"more than 2 bytes of text",
		},
	} {
		rec, at := record(), int64(0)
		err := NewReader(rec, c.limits, func() int64 { at++; return at }, nil).Events(&pieces{c.pieces, nil})
		if err != nil || rec.Outcome != load.Malformed || !strings.Contains(rec.Error, c.text) {
			t.Errorf("%s: %v, %q, %v", name, rec.Outcome, rec.Error, err)
		}
		if name == "events" && rec.Events != nil {
			t.Errorf("%d events are kept", len(rec.Events))
		}
	}
	if rec, err := read(&pieces{[]string{token, token, end}, nil}); err != nil || rec.Answer != "aa" {
		t.Errorf("%+v, %v", rec, err)
	}
}

func TestWholeAnswersAreBounded(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	for name, c := range map[string]struct {
		content string
		bytes   int64
		text    string
	}{
		"bytes": {
			`{"choices":[{"text":"a"}],"logprobs":[` + strings.Repeat("1,", 1<<20) + `1]}`, 1 << 20,
			"longer than 1MiB",
		},
		"a text": {`{"choices":[{"text":"` + long + `"}]}`, 1 << 30, "a text of more than 1048576 bytes"},
		"a name": {`{"` + long + `":1}`, 1 << 30, "a text of more than 1048576 bytes"},
		"a digit": {
			`{"choices":[],"usage":{"completion_tokens":1` + strings.Repeat("0", 2<<20) + `}}`, 1 << 30,
			"a text of more",
		},
		"all of it may be long": {
			`{"choices":[{"text":"a"}],"logprobs":[` + strings.Repeat("1,", 2<<20) + `1]}`, 1 << 30, "",
		},
	} {
		rec := record()
		err := NewReader(rec, Limits{Bytes: c.bytes}, func() int64 { return 5 }, nil).
			Whole(strings.NewReader(c.content))
		if err != nil || (rec.Outcome == load.Malformed) != (c.text != "") || !strings.Contains(rec.Error, c.text) {
			t.Errorf("%s: %v, %q, %v", name, rec.Outcome, rec.Error, err)
		}
	}
}

// An unknown member is no output if the usage has no token for it.
func TestUnknownMembersNeedATokenOfTheUsage(t *testing.T) {
	unknown := delta(`"not_known":{"a":"x"}`)
	counts := func(n int) string { return event(fmt.Sprintf(`{"choices":[],"usage":{"completion_tokens":%d}}`, n)) }
	for name, c := range map[string]struct {
		pieces              []string
		first, last, events int
		doubt               bool
	}{
		"first":          {[]string{unknown, token, token, finish, counts(2), end}, 2, 3, 2, false},
		"last":           {[]string{token, token, unknown, finish, counts(2), end}, 1, 2, 2, false},
		"with tokens":    {[]string{unknown, token, token, finish, counts(3), end}, 1, 3, 3, false},
		"too few tokens": {[]string{unknown, token, token, finish, counts(1), end}, 1, 3, 3, true},
		"no usage":       {[]string{unknown, token, token, finish, end}, 1, 3, 3, false},
		"nothing known":  {[]string{unknown, unknown, finish, counts(1), end}, 1, 2, 2, true},
		"a known one":    {[]string{tool, token, token, finish, counts(2), end}, 1, 3, 3, true},
	} {
		rec, err := read(&pieces{c.pieces, nil})
		if err != nil || rec.Outcome != load.OK || rec.First != int64(c.first) || rec.Last != int64(c.last) ||
			len(rec.Events) != c.events || (rec.Doubt != "") != c.doubt {
			t.Errorf("%s: %+v, %v", name, rec, err)
		}
	}
}

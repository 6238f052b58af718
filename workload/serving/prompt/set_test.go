package prompt

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/schedule"
)

func tokens(t *testing.T, text string) Tokens {
	t.Helper()
	d, err := ParseTokens(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func set(t *testing.T, s Settings) *Set {
	t.Helper()
	if s.API == "" {
		s.API = Completions
	}
	made, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// posted is a body as a server reads it.
type posted struct {
	Prompt   json.RawMessage
	Messages []struct{ Role, Content string }
	Max      int `json:"max_tokens"`
}

func read(t *testing.T, body []byte) (p posted) {
	t.Helper()
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return p
}

func (p posted) text(t *testing.T) (s string) {
	t.Helper()
	if err := json.Unmarshal(p.Prompt, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func (p posted) ids(t *testing.T) (list []int) {
	t.Helper()
	if err := json.Unmarshal(p.Prompt, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEqualSettingsGiveEqualRequestsInAnyOrder(t *testing.T) {
	s := Settings{
		Body: Body{API: Chat}, Input: tokens(t, "normal:100,30"), Output: tokens(t, "uniform:5,50"),
		Seed: 4, Launch: 2, Turns: 3,
		Cancel: Cancel{Share: 0.3, Events: 4},
	}
	one, other := set(t, s), set(t, s)
	for i := 299; i >= 0; i-- {
		other.Request(load.Measured, i)
	}
	if one.Digest(300) != other.Digest(300) {
		t.Error("the order of making requests changes them")
	}
	digests := map[string]bool{one.Digest(300): true, one.Digest(299): true}
	for _, change := range []func(*Settings){
		func(s *Settings) { s.Seed++ },
		func(s *Settings) { s.Launch++ },
		func(s *Settings) { s.Output = tokens(t, "uniform:5,51") },
		func(s *Settings) { s.Cancel.Share = 0.4 },
		func(s *Settings) { s.Model = "b" },
		func(s *Settings) { s.Think = 1 },
	} {
		changed := s
		change(&changed)
		digests[set(t, changed).Digest(300)] = true
	}
	if len(digests) != 8 {
		t.Errorf("%d different digests of 8 sets", len(digests))
	}
}

func TestATurnHasTheAnswersBeforeIt(t *testing.T) {
	s := set(t, Settings{Body: Body{API: Chat}, Input: tokens(t, "20"), Output: tokens(t, "6"), Turns: 3, Think: 5e8})
	first, last := s.Request(load.Measured, 6), s.Request(load.Measured, 8)
	if first.Session != 2 || first.Turn != 0 || first.Think != 0 || first.Follow != nil || first.Input != 20 {
		t.Errorf("%+v", first)
	}
	if last.Session != 2 || last.Turn != 2 || last.Think != 5e8 || last.Body != nil || last.Input != 0 {
		t.Errorf("%+v", last)
	}
	got := read(t, last.Follow([]string{`a "quoted" <answer>`, "two\n"})).Messages
	var roles []string
	for _, m := range got {
		roles = append(roles, m.Role)
	}
	if want := []string{"user", "assistant", "user", "assistant", "user"}; !slices.Equal(roles, want) {
		t.Fatal(roles)
	}
	if got[0].Content != read(t, first.Body).Messages[0].Content || got[1].Content != `a "quoted" <answer>` ||
		got[3].Content != "two\n" || got[2].Content == got[4].Content {
		t.Errorf("%q", got)
	}
}

func TestAShareOfMeasuredRequestsIsCancelled(t *testing.T) {
	s := set(t, Settings{Input: tokens(t, "5"), Cancel: Cancel{Share: 0.2, After: 3e8}})
	n := 0
	for i := range 5000 {
		if r := s.Request(load.Measured, i); r.CancelAfter == 3e8 {
			n++
		} else if r.CancelAfter != 0 {
			t.Fatalf("%+v", r)
		}
		if s.Request(load.Warmup, i).CancelAfter != 0 {
			t.Fatal("a request of the warm-up is cancelled")
		}
	}
	if math.Abs(float64(n)-1000) > 4*math.Sqrt(5000*0.2*0.8) {
		t.Errorf("%d of 5000 are cancelled, not 20%%", n)
	}
}

func TestBodies(t *testing.T) {
	var b bytes.Buffer
	for _, s := range []Settings{
		{Body: Body{API: Completions, Model: "Qwen/Qwen3-0.6B", Stream: true, Exact: true}, Output: tokens(t, "50")},
		{Body: Body{API: Completions, Model: "m"}, IDs: true},
		{Body: Body{API: Chat, Model: "<m>", Stream: true}, Output: tokens(t, "7")},
		{Body: Body{API: Chat, Model: "m", Exact: true, Fields: map[string]json.RawMessage{
			"temperature": []byte("0"), "max_tokens": []byte("null"), "max_completion_tokens": []byte("50"),
			"ignore_eos": []byte(" false "), "chat_template_kwargs": []byte(`{"enable_thinking": false}`),
		}}, Output: tokens(t, "50")},
		{Body: Body{API: Completions, Model: "m"}, Lines: []string{"say \"what\" & ü", "other"}},
	} {
		if s.Lines == nil {
			s.Input = tokens(t, "16")
		}
		s.Seed = 3
		b.Write(append(set(t, s).Request(load.Measured, 1).Body, '\n'))
	}
	golden.Equal(t, "testdata/bodies.golden", b.Bytes())
}

func TestInvalidSettings(t *testing.T) {
	ten, chat := tokens(t, "10"), Body{API: Chat}
	plain := Body{API: Completions}
	rows := []schedule.Row{{Input: 1, Output: 1, Blocks: []int64{1}}, {Input: 1, Output: 1}}
	with := func(name, value string) Body {
		return Body{API: Chat, Fields: map[string]json.RawMessage{name: []byte(value)}}
	}
	for want, s := range map[string]Settings{
		"no api":                    {Input: ten},
		"number of tokens":          {Body: plain},
		"cannot be a further field": {Body: with("messages", "[]"), Input: ten},
		"is no JSON":                {Body: with("a", "{"), Input: ten},
		"need api completions":      {Body: chat, Input: ten, IDs: true},
		"need api chat":             {Body: plain, Input: ten, Turns: 2},
		"fewer than 100":            {Body: plain, Input: ten, IDs: true, Vocabulary: [2]int{5, 50}},
		"not both":                  {Body: plain, Lines: []string{"a"}, IDs: true},
		"no prompts in the file":    {Body: plain, Lines: []string{}},
		"neither a shared prefix":   {Body: plain, Lines: []string{"a"}, Prefix: Prefix{Groups: 1, Tokens: 1}},
		"needs a trace":             {Body: plain, Input: ten, Prefix: Prefix{Traced: true}},
		"with hash_ids":             {Body: plain, Rows: rows[1:], Prefix: Prefix{Traced: true}},
		"needs its number":          {Body: Body{API: Chat, Exact: true}, Input: ten},
		"leaves nothing":            {Body: plain, Input: ten, Prefix: Prefix{Groups: 1, Tokens: 10}},
		"of one turn": {
			Body: chat, Rows: rows[:1], Prefix: Prefix{Traced: true}, Turns: 2,
		},
	} {
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	d, err := ParseTokens("512")
	if err != nil {
		b.Fatal(err)
	}
	s, err := New(Settings{Body: Body{API: Chat, Model: "m", Stream: true}, Input: d, Output: d})
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		s.Request(load.Measured, i)
	}
}

// With prefix none a prompt is sent as written, and all others have a nonce.
func TestPromptsAsTheyAreWritten(t *testing.T) {
	none := Prefix{None: true}
	for name, s := range map[string]Settings{
		"a text":    {Lines: []string{"Hello"}, Prefix: none},
		"of a chat": {Lines: []string{"Hello"}, Prefix: none, Body: Body{API: Chat}},
	} {
		made := set(t, s)
		for _, phase := range []load.Phase{load.Warmup, load.Measured} {
			body := read(t, made.Request(phase, 3).Body)
			text := ""
			if s.API == Chat {
				text = body.Messages[0].Content
			} else {
				text = body.text(t)
			}
			if text != "Hello" {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
	cold := set(t, Settings{Lines: []string{"Hello"}}).Request(load.Measured, 3)
	if read(t, cold.Body).text(t) == "Hello" {
		t.Error("a cold prompt has no nonce")
	}
	made := set(t, Settings{Input: tokens(t, "40"), Prefix: none})
	first := strings.Fields(read(t, made.Request(load.Measured, 0).Body).text(t))[0]
	if !slices.Contains(words, first) {
		t.Errorf("a prompt begins with %q", first)
	}
	ids := set(t, Settings{Input: tokens(t, "40"), Prefix: none, IDs: true, Salt: 7})
	other := set(t, Settings{Input: tokens(t, "40"), Prefix: none, IDs: true, Salt: 8})
	a, b := ids.Request(load.Measured, 0), other.Request(load.Measured, 0)
	if len(read(t, a.Body).ids(t)) != 40 || !bytes.Equal(a.Body, b.Body) {
		t.Errorf("%s and %s differ by a nonce", a.Body, b.Body)
	}
	if p, err := ParsePrefix("none"); err != nil || p != none || p.String() != "none" {
		t.Errorf("%v, %v", p, err)
	}
}

// Further fields change the number of requested tokens.
func TestRequestedTokens(t *testing.T) {
	for fields, want := range map[string]int{
		`{}`: 10, `{"max_tokens":500}`: 500, `{"max_tokens":null}`: 0, `{"max_tokens":"many"}`: 0,
		`{"max_completion_tokens":70,"max_tokens":null}`: 70, `{"n":3}`: 30, `{"n":2,"max_tokens":50}`: 100,
		`{"n":0}`:           0,
		`{"temperature":1}`: 10,
	} {
		s := Settings{Input: tokens(t, "5"), Output: tokens(t, "10")}
		if err := json.Unmarshal([]byte(fields), &s.Fields); err != nil {
			t.Fatal(err)
		}
		r := set(t, s).Request(load.Measured, 0)
		if r.Output != want {
			t.Errorf("%s: %d tokens are asked for, want %d", fields, r.Output, want)
		}
	}
}

package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"weir/serving"
	"weir/serving/schedule"
	"weir/test/golden"
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

// posted is what a server reads of a body.
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

var phases = []serving.Phase{serving.Ready, serving.Warmup, serving.Measured}

func TestNoTwoColdPromptsBeginAlike(t *testing.T) {
	for _, s := range []Settings{
		{Input: tokens(t, "uniform:1,8")},
		{Lines: []string{"one", "two"}},
		{Body: Body{API: Chat}, Input: tokens(t, "4")},
	} {
		seen := map[string]string{}
		for _, seed := range []uint64{1, 2} {
			for launch := range uint64(3) {
				s.Seed, s.Launch = seed, launch
				of := set(t, s)
				for _, phase := range phases {
					for i := range 3000 {
						p := read(t, of.Request(phase, i).Body)
						text := ""
						if of.API == Chat {
							text = p.Messages[0].Content
						} else {
							text = p.text(t)
						}
						name := fmt.Sprintf("seed %d, launch %d, phase %d, request %d", seed, launch, phase, i)
						if with, twice := seen[text[:16]]; twice {
							t.Fatalf("%s begins as %s: %s", name, with, text)
						}
						seen[text[:16]] = name
					}
				}
			}
		}
	}
}

func TestNoTwoColdArraysBeginAlike(t *testing.T) {
	seen := map[[idsOfNonce]int]bool{}
	for launch := range uint64(3) {
		s := set(t, Settings{Input: tokens(t, "6"), IDs: true, Launch: launch})
		for _, phase := range phases {
			for i := range 3000 {
				list := read(t, s.Request(phase, i).Body).ids(t)
				begin := [idsOfNonce]int(list)
				if seen[begin] || len(list) != 6 || slices.Min(list) < 1000 || slices.Max(list) > 30000 {
					t.Fatalf("launch %d, phase %d, request %d: %v", launch, phase, i, list)
				}
				seen[begin] = true
			}
		}
	}
}

func TestArraysHaveExactlyTheTokensAskedFor(t *testing.T) {
	s := set(t, Settings{Input: tokens(t, "uniform:1,300"), IDs: true, Vocabulary: [2]int{5, 104}})
	sum := 0
	for i := range 2000 {
		r := s.Request(serving.Measured, i)
		list := read(t, r.Body).ids(t)
		if len(list) != r.Input || slices.Min(list) < 5 || slices.Max(list) > 104 {
			t.Fatalf("%d ids for %d tokens, from %d to %d", len(list), r.Input, slices.Min(list), slices.Max(list))
		}
		sum += len(list)
	}
	if mean := float64(sum) / 2000; math.Abs(mean-150.5) > 8 {
		t.Errorf("%v tokens on average", mean)
	}
}

func TestTextsHaveTheWordsOfTheirTokens(t *testing.T) {
	s := set(t, Settings{Input: tokens(t, "512"), Calibration: Calibration{PerWord: 1.25, Base: 12}})
	r := s.Request(serving.Measured, 3)
	// (512 - 12) / 1.25 words and a nonce
	if n := len(strings.Fields(read(t, r.Body).text(t))); n != 401 || r.Input != 512 {
		t.Errorf("%d words for %d tokens", n, r.Input)
	}
	p := s.Probe(2, 40)
	if n := len(strings.Fields(read(t, p.Body).text(t))); n != 41 || p.Phase != serving.Ready || read(t, p.Body).Max != 1 {
		t.Errorf("%d words in a probe: %s", n, p.Body)
	}
}

func TestEqualSettingsGiveEqualRequestsInAnyOrder(t *testing.T) {
	s := Settings{
		Body: Body{API: Chat}, Input: tokens(t, "normal:100,30"), Output: tokens(t, "uniform:5,50"), Seed: 4, Launch: 2, Turns: 3,
		Cancel: Cancel{Share: 0.3, Events: 4},
	}
	one, other := set(t, s), set(t, s)
	for i := 299; i >= 0; i-- {
		other.Request(serving.Measured, i)
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

func TestGroupsShareTheirPrefixAndNothingElse(t *testing.T) {
	const words = 88 // 100 tokens less 12
	s := Settings{Input: tokens(t, "150"), Prefix: Prefix{Groups: 3, Tokens: 100}}
	for launch := range uint64(2) {
		s.Launch = launch
		of := set(t, s)
		prefixes, rests := map[string]int{}, map[string]bool{}
		for i := range 30 {
			f := strings.Fields(read(t, of.Request(serving.Measured, i).Body).text(t))
			prefix := strings.Join(f[:1+words], " ")
			if g, known := prefixes[prefix]; known && g != i%3 {
				t.Errorf("request %d has the prefix of group %d", i, g)
			}
			prefixes[prefix] = i % 3
			rests[f[1+words]] = true
		}
		if len(prefixes) != 3 || len(rests) != 30 {
			t.Errorf("%d prefixes and %d nonces", len(prefixes), len(rests))
		}
	}
	s.IDs = true
	of := set(t, s)
	a, b := read(t, of.Request(serving.Measured, 1).Body).ids(t), read(t, of.Request(serving.Measured, 4).Body).ids(t)
	if !slices.Equal(a[:100], b[:100]) || slices.Equal(a[100:104], b[100:104]) || len(a) != 150 {
		t.Errorf("%v\n%v", a, b)
	}
	// a warm-up has other prefixes
	if w := read(t, of.Request(serving.Warmup, 1).Body).ids(t); slices.Equal(a[:4], w[:4]) {
		t.Errorf("%v\n%v", a, w)
	}
}

func TestEqualBlocksOfATraceAreEqualText(t *testing.T) {
	rows := []schedule.Row{
		{Input: 512 + 10, Output: 3, Blocks: []int64{7, 8}}, // block 8 comes first as a short one
		{Input: 3 * 512, Output: 4, Blocks: []int64{7, 8, 9}},
		{Input: 512, Output: 5, Blocks: []int64{8}},
	}
	s := set(t, Settings{Rows: rows, Prefix: Prefix{Traced: true}, IDs: true})
	var list [][]int
	for i, row := range rows {
		r := s.Request(serving.Measured, i)
		list = append(list, read(t, r.Body).ids(t))
		if len(list[i]) != row.Input || r.Input != row.Input || r.Output != row.Output {
			t.Errorf("request %d: %d ids, input %d, output %d", i, len(list[i]), r.Input, r.Output)
		}
	}
	if !slices.Equal(list[0], list[1][:522]) || !slices.Equal(list[1][512:1024], list[2]) {
		t.Error("equal ids have different tokens")
	}
	if slices.Equal(list[1][:512], list[1][512:1024]) {
		t.Error("different ids have equal tokens")
	}
	// as words, of 2 tokens each
	s = set(t, Settings{Rows: rows, Prefix: Prefix{Traced: true}, Calibration: Calibration{PerWord: 2}})
	short, long := read(t, s.Request(serving.Measured, 0).Body).text(t), read(t, s.Request(serving.Measured, 1).Body).text(t)
	if !strings.HasPrefix(long, short+" ") || len(strings.Fields(short)) != 256+5 || len(strings.Fields(long)) != 3*256 {
		t.Errorf("%d and %d words", len(strings.Fields(short)), len(strings.Fields(long)))
	}
}

func TestATurnHasTheAnswersBeforeIt(t *testing.T) {
	s := set(t, Settings{Body: Body{API: Chat}, Input: tokens(t, "20"), Output: tokens(t, "6"), Turns: 3, Think: 5e8})
	first, last := s.Request(serving.Measured, 6), s.Request(serving.Measured, 8)
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
		if r := s.Request(serving.Measured, i); r.CancelAfter == 3e8 {
			n++
		} else if r.CancelAfter != 0 {
			t.Fatalf("%+v", r)
		}
		if s.Request(serving.Warmup, i).CancelAfter != 0 {
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
		b.Write(append(set(t, s).Request(serving.Measured, 1).Body, '\n'))
	}
	golden.Equal(t, "testdata/bodies.golden", b.Bytes())
}

func TestSettingsThatCannotBe(t *testing.T) {
	ten, chat := tokens(t, "10"), Body{API: Chat}
	plain := Body{API: Completions}
	for want, s := range map[string]Settings{
		"no api":                    {Input: ten},
		"number of tokens":          {Body: plain},
		"cannot be a further field": {Body: Body{API: Chat, Fields: map[string]json.RawMessage{"messages": []byte("[]")}}, Input: ten},
		"is no JSON":                {Body: Body{API: Chat, Fields: map[string]json.RawMessage{"a": []byte("{")}}, Input: ten},
		"need api completions":      {Body: chat, Input: ten, IDs: true},
		"need api chat":             {Body: plain, Input: ten, Turns: 2},
		"fewer than 100":            {Body: plain, Input: ten, IDs: true, Vocabulary: [2]int{5, 50}},
		"not both":                  {Body: plain, Lines: []string{"a"}, IDs: true},
		"no prompts in the file":    {Body: plain, Lines: []string{}},
		"neither a shared prefix":   {Body: plain, Lines: []string{"a"}, Prefix: Prefix{Groups: 1, Tokens: 1}},
		"needs a trace":             {Body: plain, Input: ten, Prefix: Prefix{Traced: true}},
		"with hash_ids":             {Body: plain, Rows: []schedule.Row{{Input: 1, Output: 1}}, Prefix: Prefix{Traced: true}},
		"needs its number":          {Body: Body{API: Chat, Exact: true}, Input: ten},
		"leaves nothing":            {Body: plain, Input: ten, Prefix: Prefix{Groups: 1, Tokens: 10}},
		"of one turn": {
			Body: chat, Rows: []schedule.Row{{Input: 1, Output: 1, Blocks: []int64{1}}}, Prefix: Prefix{Traced: true}, Turns: 2,
		},
	} {
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

func TestLinesOfAFile(t *testing.T) {
	lines, err := ReadLines([]byte("\uFEFFone\r\n\n two \nbad \xff\n"))
	if want := []string{"one", "two", "bad \uFFFD"}; err != nil || !slices.Equal(lines, want) {
		t.Errorf("%q, %v", lines, err)
	}
	for _, content := range []string{"", "\n \n", strings.Repeat("x", mostLine+1)} {
		if _, err := ReadLines([]byte(content)); err == nil {
			t.Errorf("%d bytes are prompts", len(content))
		}
	}
	s := set(t, Settings{Lines: []string{"a", "b", "c"}})
	used := map[string]int{}
	for i := range 9 {
		used[read(t, s.Request(serving.Measured, i).Body).text(t)[17:]]++
	}
	if used["a"] != 3 || used["b"] != 3 || used["c"] != 3 {
		t.Errorf("%v", used)
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
		s.Request(serving.Measured, i)
	}
}

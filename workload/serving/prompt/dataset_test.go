package prompt

import (
	"slices"
	"strings"
	"testing"
)

func TestDataSets(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    []string
	}{
		"ShareGPT": {`[{"id": "QWJhYvA_0", "conversations": [{"from": "human", "value": "Summarize\nthis"},
			{"from": "gpt", "value": "no"}]}, {"id": "i6IyJda_0", "conversations": [{"from": "gpt", "value": "more"},
			{"from": "human", "value": "Go on"}]}, {"id": "x_0", "conversations": []}]`,
			[]string{"Summarize\nthis", "Go on"}},
		"OpenAI": {`{"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]}`,
			[]string{"u"}},
		"aiperf":          {"{\"text\": \"one\"}\n\n{\"text\": \"two\", \"image\": \"i\"}\n", []string{"one", "two"}},
		"genai-perf":      {`{"text_input": "one"}`, []string{"one"}},
		"vllm":            {`{"prompt": "one", "output_tokens": 7}`, []string{"one"}},
		"guidellm":        {`[{"question": "one"}]`, []string{"one"}},
		"texts":           {"[\n \"one\",\n \"two\"\n]\n", []string{"one", "two"}},
		"spaced":          {"{ \"prompt\": \"one\" }\n{ \"prompt\": \"two\" }\n", []string{"one", "two"}},
		"brackets":        {"[INST] one [/INST]\n{two}", []string{"[INST] one [/INST]", "{two}"}},
		"with a mark":     {"\uFEFF [ {\"prompt\": \"one\"} ]", []string{"one"}},
		"of empty prompt": {`[{"prompt": ""}, {"prompt": "one"}]`, []string{"one"}},
	} {
		if got, err := ReadPrompts([]byte(c.content)); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestWrongDataSets(t *testing.T) {
	for content, want := range map[string]string{
		"{\"text\": \"one\"}\ntwo":                  "line 2: invalid character",
		"{\"text\": \"one\"}\n{\"texts\": \"two\"}": "line 2: the entry has none of prompt, text",
		"{\n  \"prompts\": [\"one\"]\n}\n":          "line 1: unexpected end of JSON input",
		`[[1, 2], [3]]`:                             "entry 1: the prompt is no text: [1, 2]",
		`["one", "two",]`:                           "entry 3: invalid character",
		"\x1f\x8b\x08\x00":                          "no text in UTF-8",
		"o\x00n\x00e\x00\n\x00":                     "no text in UTF-8",
		`{"prompt": [1, 2]}`:                        "line 1: the prompt is no text: [1, 2]",
		`[{"prompt": "one"}, 2]`:                    "entry 2: json: cannot unmarshal number",
		`[{"prompt": "one"}, {"prompt": "t`:         "entry 2: unexpected EOF",
		`[{"prompt": "one"}`:                        "the JSON array has no end",
		`[{"prompt": "one"}] more`:                  "there is text after the end",
		`[{"conversations": [{"from": "gpt"}]}]`:    "there are no prompts in the file",
		`{"messages": [{"role": "user", "content": [{"type": "text"}]}]}`: `the prompt is no text: [{"type": "text"}]`,
	} {
		if got, err := ReadPrompts([]byte(content)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", content, got, err)
		}
	}
}

func FuzzReadPrompts(f *testing.F) {
	f.Add([]byte(`[{"conversations": [{"from": "human", "value": "a"}]}]`))
	f.Add([]byte("{\"prompt\": \"a\"}\n{\"messages\": [{\"role\": \"user\", \"content\": \"b\"}]}"))
	f.Add([]byte("a\nb"))
	f.Fuzz(func(t *testing.T, content []byte) {
		list, err := ReadPrompts(content)
		if (err == nil) == (len(list) == 0) || slices.Contains(list, "") {
			t.Errorf("%q, %v", list, err)
		}
	})
}

package serving

import (
	"fmt"

	"github.com/weir-bench/weir/workload/serving/prompt"
)

// Prompts makes the requests of a launch. salt distinguishes launch and case from all others.
func (s *Spec) Prompts(launch, salt uint64, c prompt.Calibration) (*prompt.Set, error) {
	in, out := s.Input, s.Output
	fields, err := readBody(s.Body)
	if err != nil {
		return nil, fmt.Errorf("body: %w", err)
	}
	settings := prompt.Settings{
		Body: prompt.Body{
			API: prompt.API(s.API), Model: s.Model, Stream: s.Stream, Exact: out.Exact, Fields: fields,
		},
		Input: in.Tokens, Output: out.Tokens, IDs: in.IDs, Prefix: in.Prefix, Turns: s.Turns, Think: int64(s.Think),
		Seed: s.Seed, Launch: launch, Salt: salt, Calibration: c,
	}
	if settings.Rows, err = s.rows(); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if settings.Cancel, err = prompt.ParseCancel(s.Cancel); err != nil {
		return nil, fmt.Errorf("cancel: %w", err)
	}
	switch {
	case s.lines != "":
		content, err := file(s.lines)
		if err != nil {
			return nil, err
		}
		if settings.Lines, err = prompt.ReadPrompts(content); err != nil {
			return nil, fmt.Errorf("prompts: %w", err)
		}
		settings.Input = prompt.Tokens{}
	case in.Text != "":
		settings.Lines = []string{in.Text}
	}
	return prompt.New(settings)
}

// Choices returns how many choices requests ask for.
func (s *Spec) Choices() int { return choices(s.Body) }

// Exactly reports whether answers must have exactly as many tokens as requested.
func (s *Spec) Exactly() bool { return s.Output.Exact }

// Counted reports whether prompts are words with token counts that only the server knows.
func (s *Spec) Counted() bool {
	return !s.Input.IDs && s.Input.Text == "" && s.lines == ""
}

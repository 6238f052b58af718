package serving

import (
	"fmt"

	"weir/serving/prompt"
)

// Prompts makes the requests of a launch. salt tells those of one launch and case from all others.
func (s *Spec) Prompts(launch, salt uint64, c prompt.Calibration) (*prompt.Set, error) {
	in, _, err := readInput(s.Input)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	out, _, err := readOutput(s.Output)
	if err != nil {
		return nil, fmt.Errorf("output: %w", err)
	}
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
		if settings.Lines, err = prompt.ReadLines(content); err != nil {
			return nil, fmt.Errorf("prompts: %w", err)
		}
		settings.Input = prompt.Tokens{}
	case in.Text != "":
		settings.Lines = []string{in.Text}
	}
	return prompt.New(settings)
}

// Exactly says whether answers are to have as many tokens as are asked for.
func (s *Spec) Exactly() bool {
	out, _, _ := readOutput(s.Output) // which was checked
	return out.Exact
}

// Counted says whether prompts are words of which the server has to say how many tokens they are.
func (s *Spec) Counted() bool {
	in, _, _ := readInput(s.Input)
	return !in.IDs && in.Text == "" && s.lines == ""
}

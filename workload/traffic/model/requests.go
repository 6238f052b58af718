package model

import (
	"fmt"
	"math/rand/v2"
)

// Request is one prompt to the model.
type Request struct {
	ISL     int     // tokens of the prompt
	OSL     int     // tokens of the answer; 0: unknown. They move nothing: only the prompt's cache is sent
	Arrival float64 // seconds after the first request, if Timed
	Timed   bool
}

func (r Request) check() error {
	if r.ISL < 1 || r.ISL > MaxTokens || r.OSL < 0 || r.OSL > MaxTokens {
		return fmt.Errorf("a prompt of %d tokens and an answer of %d: a prompt has 1 to %d, an answer no more than that",
			r.ISL, r.OSL, MaxTokens)
	}
	return nil
}

// MaxRequests limits the requests of a mix.
const MaxRequests = 10_000_000

// Mix draws requests: the lengths of prompts, and of answers unless output is nil. Each has its own random stream, so
// that prompts do not depend on answers.
func Mix(n int, input Lengths, output *Lengths, seed uint64) ([]Request, error) {
	if n < 1 || n > MaxRequests {
		return nil, fmt.Errorf("%d requests: there are 1 to %d", n, MaxRequests)
	}
	if err := input.check(); err != nil {
		return nil, fmt.Errorf("prompts: %w", err)
	}
	if output != nil {
		if err := output.check(); err != nil {
			return nil, fmt.Errorf("answers: %w", err)
		}
	}
	prompts, answers := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
	out := make([]Request, n)
	for i := range out {
		out[i].ISL = input.draw(prompts)
		if output != nil {
			out[i].OSL = output.draw(answers)
		}
	}
	return out, nil
}

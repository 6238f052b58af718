package prompt

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/weir-bench/weir/workload/serving/load"
	"github.com/weir-bench/weir/workload/serving/schedule"
)

// Settings determine a set of requests.
type Settings struct {
	Body
	// Input and Output are the tokens of requests, or Rows: those of a trace, repeated if there are more requests.
	Input, Output Tokens
	Rows          []schedule.Row
	// Lines are the texts of prompts, in an order of the seed; nil: prompts are generated. IDs generates token ids from
	// Vocabulary (first to last) instead of words.
	Lines      []string
	IDs        bool
	Vocabulary [2]int // zero: DefaultVocabulary
	Prefix     Prefix
	Turns      int   // of a conversation; 0: 1
	Think      int64 // ns between an answer and the next turn
	Cancel     Cancel
	// Seed and Launch determine the prompts: each launch has its own.
	Seed, Launch uint64
	// Salt changes only nonces and the blocks of a trace: sets that differ in it are equal work, and a server's cache
	// of one does not help with the other.
	Salt        uint64
	Calibration Calibration // of words; zero: Uncalibrated
}

// DefaultVocabulary excludes the ids of most tokenizers' special tokens.
var DefaultVocabulary = [2]int{1000, 30000}

// Set are the requests of a load. Each can be made independently.
type Set struct {
	Settings
	order []int // of Lines
}

// New makes a set.
func New(s Settings) (*Set, error) {
	s.Turns = max(s.Turns, 1)
	if s.Vocabulary == [2]int{} {
		s.Vocabulary = DefaultVocabulary
	}
	if s.Calibration == (Calibration{}) {
		s.Calibration = Uncalibrated
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	set := &Set{Settings: s}
	set.order = set.random(forLines, load.Measured, 0).Perm(len(s.Lines))
	return set, nil
}

func (s Settings) check() error {
	if err := s.Body.check(); err != nil {
		return err
	}
	traced := len(s.Rows) > 0
	switch {
	case s.Lines != nil && s.IDs:
		return errors.New("prompts are the lines of a file or token ids, not both")
	case s.Lines != nil && (s.Prefix.Groups > 0 || s.Prefix.Traced || traced):
		return errors.New("prompts of a file have neither a shared prefix nor the lengths of a trace")
	case s.Lines != nil && len(s.Lines) == 0:
		return errors.New("there are no prompts in the file")
	case s.Lines == nil && !traced && !s.Input.Known():
		return errors.New("prompts need exactly one of a number of tokens, the rows of a trace, and the lines of a file")
	case s.IDs && s.API != Completions:
		return errors.New("token ids need api completions: chat messages are text")
	case s.IDs && (s.Vocabulary[0] < 0 || s.Vocabulary[1]-s.Vocabulary[0] < 99 || s.Vocabulary[1] > 1<<24):
		return fmt.Errorf("token ids from %d to %d are fewer than 100, or none", s.Vocabulary[0], s.Vocabulary[1])
	case s.Turns > 1 && s.API != Chat:
		return errors.New("conversations of several turns need api chat")
	case s.Prefix.Traced && (!traced || s.Rows[0].Blocks == nil):
		return errors.New("prefix as traced needs a trace with hash_ids")
	case s.Prefix.Traced && s.Turns > 1:
		return errors.New("prefix as traced is for requests of one turn: a trace has complete prompts")
	case s.Exact && !traced && !s.Output.Known():
		return errors.New("an exact output needs its number of tokens")
	case s.Prefix.Groups > 0 && s.Input.kind == "fixed" && !traced && int(s.Input.a) <= s.Prefix.Tokens:
		return fmt.Errorf("a shared prefix of %d tokens leaves nothing of an input of %s", s.Prefix.Tokens, s.Input)
	}
	return nil
}

// Request makes a request of a phase by its index over all clients. It is due when a slot is free.
func (s *Set) Request(phase load.Phase, index int) load.Request {
	r := load.Request{
		Index: index, Phase: phase, Due: load.Never, Session: index / s.Turns, Turn: index % s.Turns,
	}
	if r.Turn > 0 {
		r.Think = s.Think
	}
	contents := make([][]byte, r.Turn+1)
	for turn := range contents {
		contents[turn], r.Input, r.Output = s.turn(phase, index-r.Turn+turn)
	}
	output := r.Output
	r.Output = s.asked(output)
	if phase == load.Measured && s.Cancel.Share > 0 &&
		s.random(forCancels, phase, uint64(index)).Float64() < s.Cancel.Share {
		r.CancelAfter, r.CancelEvents = s.Cancel.After, s.Cancel.Events
	}
	if r.Turn == 0 {
		r.Body = s.body(output, contents, nil)
		return r
	}
	r.Input = 0 // it includes the answers, of unknown length
	r.Follow = func(answers []string) []byte { return s.body(output, contents, answers) }
	return r
}

// turn makes the prompt of a turn as JSON, and returns the number of requested tokens.
func (s *Set) turn(phase load.Phase, index int) (content []byte, input, output int) {
	rng := s.random(forLengths, phase, uint64(index))
	input, output = s.Input.draw(rng), s.Output.draw(rng)
	if len(s.Rows) > 0 {
		row := s.Rows[index%len(s.Rows)]
		input, output = row.Input, row.Output
		if s.Prefix.Traced {
			return s.traced(phase, row), input, output
		}
	}
	if s.Prefix.Groups > 0 && index%s.Turns == 0 {
		input = max(input, s.Prefix.Tokens+1)
	}
	switch {
	case s.Lines != nil:
		return s.line(phase, index), 0, output
	case s.IDs:
		return s.ids(phase, index, input), input, output
	}
	return s.text(phase, index, input), input, output
}

// Probe makes a request with this many words, to calibrate by its usage.
func (s *Set) Probe(index, words int) load.Request {
	b := s.nonceText(nil, ofRequest, load.Ready, index)
	b = appendWords(append(b, ' '), s.random(forTexts, load.Ready, uint64(index)), words)
	body := s.Body
	body.Exact = false
	return load.Request{
		Index: index, Phase: load.Ready, Due: load.Never, Session: index, Output: body.asked(1),
		Body: body.body(1, [][]byte{encode(nil, string(b))}, nil),
	}
}

// Digest returns the SHA-256 of the first n measured requests. Later turns are included with empty answers.
func (s *Set) Digest(n int) string {
	h := sha256.New()
	for i := range n {
		r := s.Request(load.Measured, i)
		if r.Follow != nil {
			r.Body = r.Follow(make([]string, r.Turn))
		}
		var b []byte
		for _, v := range []int64{int64(len(r.Body)), r.Think, r.CancelAfter, int64(r.CancelEvents)} {
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		}
		h.Write(append(b, r.Body...))
	}
	return hex.EncodeToString(h.Sum(nil))
}

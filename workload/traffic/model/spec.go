package model

import (
	"fmt"
	"io"
	"math"

	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
)

// Spec describes traffic by named values: a Config and its requests. See Fields.
type Spec struct {
	// Open opens a file that a value names; nil: in the file system.
	Open func(path string) (io.ReadCloser, error)
	// Spell formats the name of a field for an error; nil: unchanged.
	Spell func(name string) string
	// MostRanks limits the ranks; 0: matrix.MaxRanks.
	MostRanks int

	given                     map[string]bool
	model, config, kv         string
	keepAll                   bool
	requests                  int
	isl, osl, trace           string
	minISL, maxISL            int
	seed                      uint64
	prefillNodes, decodeNodes int
	gpus                      int
	prefill, decode           Parallel
	rail                      bool
	batch                     int
	maxBatch                  sizeText
	sleep                     string
	flops, scale              float64
}

// NewSpec returns a Spec with the default of every field.
func NewSpec() *Spec {
	one := Parallel{1, 1, 1}
	return &Spec{
		given: map[string]bool{}, requests: 1000, isl: "normal:16000,10000", minISL: 1000, maxISL: 128000, seed: 1,
		gpus: 8, prefill: one, decode: one, batch: 1, maxBatch: "100GB", sleep: string(Published),
		flops: PublishedFLOPS, scale: 1,
	}
}

// FieldError is an error in the value of a field.
type FieldError struct {
	Field string
	Err   error
}

func (e *FieldError) Error() string { return e.Err.Error() }
func (e *FieldError) Unwrap() error { return e.Err }

func due(field, format string, args ...any) error {
	return &FieldError{field, fmt.Errorf(format, args...)}
}

// due makes a FieldError. Its text begins with the field unless it names it.
func (s *Spec) due(field string, err error) error {
	return due(field, "%s: %w", s.spell(field), err)
}

func (s *Spec) spell(field string) string {
	if s.Spell == nil {
		return field
	}
	return s.Spell(field)
}

// Set sets the value of a field.
func (s *Spec) Set(name, text string) error {
	for _, f := range fields {
		if f.Name == name {
			s.given[name] = true
			return f.set(s, text)
		}
	}
	return fmt.Errorf("there is no %q", name)
}

// Patterns makes the traffic. Errors are *FieldError if a single field causes them.
func (s *Spec) Patterns() (*Config, []matrix.Pattern, error) {
	c, err := s.served()
	if err != nil {
		return nil, nil, err
	}
	requests, err := s.mix()
	if err != nil {
		return nil, nil, err
	}
	g, err := newGenerator(*c, requests)
	if err != nil {
		return nil, nil, err
	}
	patterns, err := g.patterns()
	if err != nil {
		return nil, nil, err
	}
	return c, patterns, nil
}

// served returns the workers that serve the requests.
func (s *Spec) served() (*Config, error) {
	m, err := s.architecture()
	if err != nil {
		return nil, err
	}
	if s.keepAll {
		m = m.WithoutWindows()
	}
	full, err := quantity.ParseSize(string(s.maxBatch))
	if err != nil {
		return nil, s.due("max_batch_memory", err)
	}
	c := &Config{
		Model: m, Prefill: s.prefill, Decode: s.decode, Rail: s.rail, BatchSize: s.batch, MaxBatchBytes: int64(full),
		Compute: Compute{Rule: Rule(s.sleep), FLOPS: s.flops}, BytesScale: s.scale,
	}
	for _, n := range []struct {
		field string
		value int
	}{{"prefill_nodes", s.prefillNodes}, {"decode_nodes", s.decodeNodes}, {"gpus_per_node", s.gpus}} {
		if n.value < 1 || n.value > matrix.MaxRanks {
			return nil, due(n.field, "%s %d: give a number from 1 to %d", s.spell(n.field), n.value, matrix.MaxRanks)
		}
	}
	c.PrefillRanks, c.DecodeRanks = s.prefillNodes*s.gpus, s.decodeNodes*s.gpus
	if most := s.MostRanks; most > 0 && c.Ranks() > most {
		return nil, due("prefill_nodes", "%d ranks: there are at most %d here", c.Ranks(), most)
	}
	if s.kv != "" {
		if c.KV, err = ParseDType(s.kv); err != nil {
			return nil, s.due("kv_dtype", err)
		}
	}
	if !(s.scale > 0 && s.scale <= 1) { // Config treats 0 as absent
		return nil, s.due("bytes_scale", fmt.Errorf("a factor of %v: it is above 0 and at most 1", s.scale))
	}
	return c, c.Check()
}

func (s *Spec) architecture() (*Model, error) {
	switch {
	case s.model != "" && s.config != "":
		return nil, due("config", "%s and %s both say which model it is: keep one of the two", s.spell("model"),
			s.spell("config"))
	case s.config != "":
		f, err := s.open(s.config)
		if err != nil {
			return nil, due("config", "reading the model's config: %w", err)
		}
		defer f.Close()
		src, err := io.ReadAll(f)
		if err != nil {
			return nil, due("config", "reading the model's config: %w", err)
		}
		m, err := ReadConfig(src, s.config)
		if err != nil {
			return nil, &FieldError{"config", err}
		}
		return m, nil
	case s.model == "":
		return nil, fmt.Errorf("nothing says which model it is: give one of %s NAME and %s FILE", s.spell("model"),
			s.spell("config"))
	}
	m, err := Lookup(s.model)
	if err != nil {
		return nil, s.due("model", fmt.Errorf("%w. %s", err, suggest.Sentence(s.model, Names(), "models")))
	}
	return m, nil
}

// mix returns the requests.
func (s *Spec) mix() ([]Request, error) {
	if n := s.requests; (s.trace == "" || s.given["requests"]) && (n < 1 || n > MaxRequests) {
		return nil, due("requests", "%s %d: give a number from 1 to %d", s.spell("requests"), n, MaxRequests)
	}
	if s.trace != "" {
		return s.traced()
	}
	input, err := ParseLengths(s.isl, s.minISL, s.maxISL)
	if err != nil {
		return nil, s.due("isl", err)
	}
	var output *Lengths
	if s.osl != "" {
		l, err := ParseLengths(s.osl, 1, MaxTokens)
		if err != nil {
			return nil, s.due("osl", err)
		}
		output = &l
	}
	return Mix(s.requests, input, output, s.seed)
}

func (s *Spec) traced() ([]Request, error) {
	for _, f := range fields {
		if f.distribution && s.given[f.Name] {
			return nil, due(f.Name, "%s has no effect with %s, which has the requests: leave one of the two out",
				s.spell(f.Name), s.spell("trace"))
		}
	}
	wanted := 0 // all
	if s.given["requests"] {
		wanted = s.requests
	}
	file, err := s.open(s.trace)
	if err != nil {
		return nil, due("trace", "reading the trace: %w", err)
	}
	defer file.Close()
	requests, err := ReadTrace(file, s.trace, wanted)
	if err != nil {
		return nil, &FieldError{"trace", err}
	}
	return requests, nil
}

func (s *Spec) open(path string) (io.ReadCloser, error) {
	if s.Open == nil {
		return bounded.Open(path, bounded.Result)
	}
	return s.Open(path)
}

// scaled returns a reduced cell: rounded to whole bytes, at least 1.
func scaled(bytes int64, scale float64) int64 {
	if scale == 0 || scale == 1 {
		return bytes
	}
	return max(1, int64(math.Round(float64(bytes)*scale)))
}

package model

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/internal/matrix"
)

func lookup(tb testing.TB, name string) *Model {
	tb.Helper()
	m, err := Lookup(name)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// served has one worker of tensor parallelism on each side.
func served(m *Model, prefill, decode int) Config {
	return Config{
		Model: m, Prefill: Parallel{prefill, 1, 1}, Decode: Parallel{decode, 1, 1}, PrefillRanks: prefill,
		DecodeRanks: decode,
		BatchSize:   1, Compute: Compute{Published, PublishedFLOPS},
	}
}

func generated(tb testing.TB, c Config, requests []Request) []matrix.Pattern {
	tb.Helper()
	ps, err := Generate(c, requests)
	if err != nil {
		tb.Fatal(err)
	}
	return ps
}

// The published numbers for llama-405b with 16000 tokens and tp 8 to 8.
func TestThePublishedExample(t *testing.T) {
	p := generated(t, served(lookup(t, "llama-405b"), 8, 8), []Request{{ISL: 16000}})[0]
	if math.Abs(p.SleepBefore-37.404803072) > 1e-12 || p.Matrix.Ranks() != 16 || p.Matrix.NonZero() != 8 {
		t.Errorf("sleep %v, %d cells of %d ranks", p.SleepBefore, p.Matrix.NonZero(), p.Matrix.Ranks())
	}
	for c := range p.Matrix.Cells() {
		if c.To != c.From+8 || matrix.Rounded(c.Bytes) != "984.38M" {
			t.Errorf("cell %v is %s", c, matrix.Rounded(c.Bytes))
		}
	}
	if isl, _ := p.Lookup("isl"); isl != "16000" {
		t.Errorf("isl %s", isl)
	}
}

// Rail-optimised: 4 prefill ranks and 8 decode ranks, as published.
func TestRanksBySwitch(t *testing.T) {
	c := served(lookup(t, "llama-405b"), 4, 8)
	var pairs []string
	for _, rail := range []bool{false, true} {
		c.Rail = rail
		for cell := range generated(t, c, []Request{{ISL: 16000}})[0].Matrix.Cells() {
			pairs = append(pairs, fmt.Sprintf("%d>%d", cell.From, cell.To))
			if matrix.Rounded(cell.Bytes) != "984.38M" {
				t.Errorf("cell %v", cell)
			}
		}
	}
	if got := strings.Join(pairs, " "); got != "0>4 0>5 1>6 1>7 2>8 2>9 3>10 3>11 0>4 0>8 1>5 1>9 2>6 2>10 3>7 3>11" {
		t.Error(got)
	}
}

// The bytes of a pattern are those of its prompts' cache, times the copies that decode ranks keep, from a prefill
// worker to a decode worker.
func TestBytesAreConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := smallModel(t)
		c := Config{
			Model: m, Prefill: parallel(t, "prefill", m), Decode: parallel(t, "decode", m),
			BatchSize: rapid.IntRange(1, 4).Draw(t, "batch"), Compute: Compute{Rule: None},
		}
		c.PrefillRanks = c.Prefill.Ranks() * rapid.IntRange(1, 3).Draw(t, "prefill workers")
		c.DecodeRanks = c.Decode.Ranks() * rapid.IntRange(1, 3).Draw(t, "decode workers")
		var requests []Request
		for _, isl := range rapid.SliceOfN(rapid.IntRange(1, 50), 1, 12).Draw(t, "isl") {
			requests = append(requests, Request{ISL: isl})
		}
		ps, err := Generate(c, requests)
		if err != nil {
			t.Fatal(err)
		}
		if want := (len(requests) + c.BatchSize - 1) / c.BatchSize; len(ps) != want {
			t.Fatalf("%d patterns, want %d", len(ps), want)
		}
		heads, _ := m.cached()
		copies := int64(max(1, c.Decode.TP/heads))
		for i, p := range ps {
			want := int64(0)
			for _, r := range requests[i*c.BatchSize : min((i+1)*c.BatchSize, len(requests))] {
				want += m.KVBytes(r.ISL, m.DType) * copies
			}
			if p.Matrix.Total() != want || p.Matrix.Ranks() != c.PrefillRanks+c.DecodeRanks {
				t.Fatalf("pattern %d: %d bytes between %d ranks, want %d", i, p.Matrix.Total(), p.Matrix.Ranks(), want)
			}
			worker := i % (c.PrefillRanks / c.Prefill.Ranks()) * c.Prefill.Ranks()
			for cell := range p.Matrix.Cells() {
				if cell.From < worker || cell.From >= worker+c.Prefill.Ranks() || cell.To < c.PrefillRanks {
					t.Fatalf("pattern %d: cell %v", i, cell)
				}
			}
		}
	})
}

// firsts returns the first sender and receiver of each pattern.
func firsts(ps []matrix.Pattern) string {
	var out []string
	for _, p := range ps {
		out = append(out, fmt.Sprintf("%d>%d", p.Matrix.Senders()[0], p.Matrix.Receivers()[0]))
	}
	return strings.Join(out, " ")
}

func TestWorkersTakeTurns(t *testing.T) {
	for _, c := range []struct {
		prefill, decode int // workers of two ranks
		want            string
	}{
		{1, 1, "0>2 0>2 0>2 0>2"},
		{2, 2, "0>4 2>6 0>4 2>6"},
		{4, 2, "0>8 2>8 4>10 6>10"},
		{1, 3, "0>2 0>4 0>6 0>2"},
		{3, 2, "0>6 2>8 4>6 0>8"},
	} {
		config := served(lookup(t, "llama-8b"), 2, 2)
		config.PrefillRanks, config.DecodeRanks = 2*c.prefill, 2*c.decode
		if got := firsts(generated(t, config, []Request{{ISL: 5}, {ISL: 5}, {ISL: 5}, {ISL: 5}})); got != c.want {
			t.Errorf("%d to %d: %s, want %s", c.prefill, c.decode, got, c.want)
		}
	}
}

func TestBatchesCloseWhenFull(t *testing.T) {
	c := served(lookup(t, "llama-8b"), 1, 1)
	c.BatchSize = 3
	var requests []Request
	for _, isl := range []int{100, 200, 300, 5000, 10, 20} {
		requests = append(requests, Request{ISL: isl})
	}
	isls := func() (out []string) {
		for _, p := range generated(t, c, requests) {
			isl, _ := p.Lookup("isl")
			n, _ := p.Lookup("requests")
			out = append(out, n+":"+isl)
		}
		return out
	}
	if got := isls(); !slices.Equal(got, []string{"3:600", "3:5030"}) {
		t.Errorf("by number: %v", got)
	}
	c.MaxBatchBytes = 4000 * 131072
	if got := isls(); !slices.Equal(got, []string{"3:600", "1:5000", "2:30"}) {
		t.Errorf("by memory: %v", got)
	}
	c.BatchSize, c.MaxBatchBytes = 1000, math.MaxInt64
	if got := isls(); !slices.Equal(got, []string{"6:5630"}) {
		t.Errorf("the rest: %v", got)
	}
}

// Sleeps of a timed sequence add up to the times of the trace: until a batch has arrived or its worker is free, and
// then its prefill.
func TestSleepsFollowTheTrace(t *testing.T) {
	c := served(lookup(t, "llama-8b"), 1, 1)
	c.PrefillRanks = 2 // two workers
	one := c.Compute.Seconds(c.Model, []Request{{ISL: 1000}}, c.Prefill)
	at := func(s float64) Request { return Request{ISL: 1000, Arrival: s * one, Timed: true} }
	ps := generated(t, c, []Request{at(0), at(0), at(0.5), at(9)})
	// the third waits for its worker, which then is late; the fourth's has waited since 1
	for i, want := range []float64{1, 1, 1, 9} {
		if got := ps[i].SleepBefore / one; math.Abs(got-want) > 1e-9 {
			t.Errorf("pattern %d sleeps %v computations, want %v", i, got, want)
		}
	}
	if v, ok := ps[3].Lookup("arrival_sec"); !ok || !strings.HasPrefix(v, fmt.Sprintf("%.6f", 9*one)[:5]) {
		t.Errorf("arrival %q", v)
	}
}

func TestInvalidConfigsAreRejected(t *testing.T) {
	good := served(lookup(t, "llama-8b"), 8, 8)
	for want, change := range map[string]func(*Config){
		"prefill: 7 ranks cannot be divided into workers of 8": func(c *Config) { c.PrefillRanks = 7 },

		"decode: 4 ranks cannot be divided":               func(c *Config) { c.DecodeRanks = 4 },
		"8 KV heads cannot be divided between 3":          func(c *Config) { c.Prefill.TP = 3 },
		"32 attention heads cannot be divided between 64": func(c *Config) { c.Decode.TP = 64 },

		"33 stages for 32 layers": func(c *Config) { c.Prefill.PP = 33 },
		"each is above 0":         func(c *Config) { c.Prefill.CP = 0 },
		"at most 65536":           func(c *Config) { c.PrefillRanks = 1 << 16 },
		"batches of 0 requests":   func(c *Config) { c.BatchSize = 0 },
		"order by rails":          func(c *Config) { c.Rail, c.Decode.PP, c.DecodeRanks = true, 2, 16 },
		"unknown rule":            func(c *Config) { c.Compute.Rule = "guess" },
		"operations per second":   func(c *Config) { c.Compute.FLOPS = 0 },
		"unknown type":            func(c *Config) { c.KV = "fp4" },
	} {
		c := good
		change(&c)
		if _, err := Generate(c, []Request{{ISL: 1}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, isl := range []int{0, -1, MaxTokens + 1} {
		if _, err := Generate(good, []Request{{ISL: isl}}); err == nil {
			t.Errorf("a prompt of %d tokens was accepted", isl)
		}
	}
	for _, osl := range []int{-1, math.MinInt, MaxTokens + 1} {
		if _, err := Generate(good, []Request{{ISL: 1, OSL: osl}}); err == nil ||
			!strings.Contains(err.Error(), "request 0: a prompt of 1 tokens and an answer of") {
			t.Errorf("an answer of %d tokens: %v", osl, err)
		}
	}
	huge := good
	huge.BatchSize, huge.Compute = 1<<20, Compute{Rule: None}
	// 2^61 bytes: the sizes stay exact
	if _, err := Generate(huge, slices.Repeat([]Request{{ISL: MaxTokens}}, 1<<20)); err != nil {
		t.Errorf("a large batch: %v", err)
	}
}

// ct-perftest's reader accepts everything that is written.
func TestLongSleepsAreRejected(t *testing.T) {
	const year = matrix.MaxSleep
	slow := func(flops float64) Config {
		c := served(lookup(t, "llama-8b"), 1, 1)
		c.Compute.FLOPS = flops
		return c
	}
	once := []Request{{ISL: 1000}}
	at := func(seconds ...float64) (out []Request) {
		for _, s := range seconds {
			out = append(out, Request{ISL: 1000, Arrival: s, Timed: true})
		}
		return out
	}
	// operations per second for a prefill of a year
	limit := slow(1).Compute.Seconds(lookup(t, "llama-8b"), once, Parallel{1, 1, 1}) / year
	for _, c := range []struct {
		config   Config
		requests []Request
		want     string // "": none
	}{
		{slow(1e-300), once, "pattern 0: its prefill takes +Inf s at 1e-300 operations per second"},
		{slow(limit / 1.01), once, "sleeps at most 31622400 s"},
		{slow(limit * 1.01), once, ""},
		{slow(1e15), at(0, 0.9*year), ""},
		{slow(1e15), at(0, 1.1*year), "pattern 1: its worker sleeps 3.48e+07 s"},
		{slow(1e15), at(0, 0.9*year, 1.8*year), ""},
		{slow(1e15), at(math.NaN()), "its worker sleeps NaN s"},
	} {
		_, err := Generate(c.config, c.requests)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// thousand is the published example of 16 nodes each.
func thousand(tb testing.TB) (Config, []Request) {
	c := served(lookup(tb, "llama-405b"), 8, 8)
	c.PrefillRanks, c.DecodeRanks = 128, 128
	requests, err := Mix(1000, Lengths{"normal", 16000, 10000, 1000, 128000}, nil, 1)
	if err != nil {
		tb.Fatal(err)
	}
	return c, requests
}

func TestAThousandRequestsAreAThousandPatterns(t *testing.T) {
	c, requests := thousand(t)
	if ps := generated(t, c, requests); len(ps) != 1000 {
		t.Errorf("%d patterns", len(ps))
	}
}

func BenchmarkThousandRequests(b *testing.B) {
	c, requests := thousand(b)
	b.ReportAllocs()
	for b.Loop() {
		generated(b, c, requests)
	}
}

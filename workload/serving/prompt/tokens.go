// Package prompt makes the requests of a load on an OpenAI-compatible endpoint: texts or token ids of given lengths,
// shared prefixes, and the JSON to post. Equal settings give equal requests on every machine, in any order and on any
// client.
package prompt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// MaxTokens limits the tokens of an input, and of an output.
const MaxTokens = 1 << 20

const tokenForms = "write 512, fixed:512, normal:MEAN,DEVIATION, uniform:MIN,MAX or lognormal:MEAN,SIGMA"

// Tokens is a distribution of numbers of tokens; numbers below 1 become 1. The zero value is unspecified.
type Tokens struct {
	kind string
	a, b float64
}

// kinds are the distributions: limits of their two numbers, and the drawing function.
var kinds = map[string]struct {
	check func(a, b float64) bool
	draw  func(a, b float64, rng *rand.Rand) float64
}{
	"fixed": {
		func(a, _ float64) bool { return whole(a) },
		func(a, _ float64, _ *rand.Rand) float64 { return a },
	},
	"normal": {
		func(a, b float64) bool { return a >= 1 && b >= 0 && b <= MaxTokens },
		func(a, b float64, rng *rand.Rand) float64 { return a + float64(b*rng.NormFloat64()) },
	},
	"uniform": {
		func(a, b float64) bool { return whole(a) && whole(b) && a <= b },
		func(a, b float64, rng *rand.Rand) float64 { return a + float64(rng.IntN(int(b-a)+1)) },
	},
	"lognormal": { // with this mean; sigma is the standard deviation of the logarithm
		func(a, b float64) bool { return a >= 1 && b >= 0 && b <= 4 },
		func(a, b float64, rng *rand.Rand) float64 {
			return quantity.Round(a * math.Exp(b*rng.NormFloat64()-b*b/2))
		},
	},
}

func whole(v float64) bool { return v >= 1 && v == math.Trunc(v) }

// ParseTokens reads a distribution: a number, fixed:NUMBER, normal:MEAN,DEVIATION, uniform:MIN,MAX or
// lognormal:MEAN,SIGMA.
func ParseTokens(text string) (Tokens, error) {
	kind, numbers, named := strings.Cut(text, ":")
	if !named {
		kind, numbers = "fixed", text
	}
	k, known := kinds[kind]
	if !known {
		return Tokens{}, fmt.Errorf("there is no distribution %q of tokens: %s", kind, tokenForms)
	}
	first, second, two := strings.Cut(numbers, ",")
	a, err := strconv.ParseFloat(strings.TrimSpace(first), 64)
	b := 0.
	if err == nil && two {
		b, err = strconv.ParseFloat(strings.TrimSpace(second), 64)
	}
	if err != nil || two != (kind != "fixed") {
		return Tokens{}, fmt.Errorf("%q is no distribution of tokens: %s", text, tokenForms)
	}
	if !k.check(a, b) || a > MaxTokens || b > MaxTokens {
		return Tokens{}, fmt.Errorf("%q is no distribution of 1 to %d tokens: %s", text, MaxTokens, tokenForms)
	}
	return Tokens{kind, a, b}, nil
}

// String returns the form of ParseTokens; "" for the zero value.
func (t Tokens) String() string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	switch t.kind {
	case "":
		return ""
	case "fixed":
		return "fixed:" + number(t.a)
	}
	return t.kind + ":" + number(t.a) + "," + number(t.b)
}

// MarshalText writes String.
func (t Tokens) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (t *Tokens) UnmarshalText(text []byte) (err error) {
	if *t = (Tokens{}); len(text) > 0 {
		*t, err = ParseTokens(string(text))
	}
	return err
}

// Known reports whether a distribution is specified.
func (t Tokens) Known() bool { return t.kind != "" }

// draw draws a number; 0 if unspecified.
func (t Tokens) draw(rng *rand.Rand) int {
	if !t.Known() {
		return 0
	}
	return int(min(max(math.Round(kinds[t.kind].draw(t.a, t.b, rng)), 1), MaxTokens))
}

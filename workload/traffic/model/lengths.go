package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// MaxTokens is the limit of a prompt.
const MaxTokens = 1 << 24

// Lengths is a distribution of lengths in tokens.
type Lengths struct {
	Kind     string  // fixed, uniform, normal or lognormal
	A, B     float64 // fixed: the length; uniform: minimum and maximum; else mean and standard deviation of the lengths
	Min, Max int     // of normal and lognormal: lengths outside are moved to the bound, as the published generator does
}

// kind is a distribution with the number of its parameters.
type kind struct {
	name, parameters string
	count            int
}

var kinds = []kind{
	{"fixed", "TOKENS", 1}, {"uniform", "LEAST,MOST", 2}, {"normal", "MEAN,DEVIATION", 2},
	{"lognormal", "MEAN,DEVIATION", 2},
}

// ParseLengths reads a distribution: "fixed:16000", "uniform:1000,128000", "normal:16000,10000" or
// "lognormal:16000,10000" with the mean and standard deviation of the lengths. A plain number is a fixed length. min
// and max bound the last two.
func ParseLengths(text string, min, max int) (Lengths, error) {
	name, rest, found := strings.Cut(text, ":")
	if !found {
		name, rest = "fixed", text
	}
	var forms []string
	for _, k := range kinds {
		forms = append(forms, k.name+":"+k.parameters)
		if k.name != strings.TrimSpace(name) {
			continue
		}
		values, err := numbers(rest)
		if err != nil {
			return Lengths{}, fmt.Errorf("%q: %w", text, err)
		}
		if len(values) != k.count {
			return Lengths{}, fmt.Errorf("%q: write %s:%s", text, k.name, k.parameters)
		}
		l := Lengths{Kind: k.name, A: values[0], Min: min, Max: max}
		if k.count == 2 {
			l.B = values[1]
		}
		return l, l.check()
	}
	return Lengths{}, fmt.Errorf("%q is no distribution of lengths: write %s", text, sentence(forms))
}

func numbers(text string) ([]float64, error) {
	var out []float64
	for _, word := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(math.Abs(v) <= MaxTokens) {
			return nil, fmt.Errorf("%q is not a number of tokens", strings.TrimSpace(word))
		}
		out = append(out, v)
	}
	return out, nil
}

// maxSpread limits a lognormal standard deviation as a multiple of the mean: prompts in use have one or two, and the
// square of 1e155 overflows.
const maxSpread = 1e6

func (l Lengths) check() error {
	whole := l.A == math.Trunc(l.A) && l.B == math.Trunc(l.B)
	switch {
	case !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == l.Kind }):
		return fmt.Errorf("%q is no distribution of lengths", l.Kind)
	case !(math.Abs(l.A) <= MaxTokens && l.B <= MaxTokens):
		return fmt.Errorf("lengths of %v and %v: they are up to %d", l.A, l.B, MaxTokens)
	case l.Kind == "fixed" && (l.A < 1 || !whole):
		return fmt.Errorf("a length of %v: it is a whole number above 0", l.A)
	case l.Kind == "uniform" && (l.A < 1 || l.B < l.A || !whole):
		return fmt.Errorf("lengths from %v to %v: they are whole numbers above 0, the least first", l.A, l.B)
	case l.B < 0:
		return fmt.Errorf("a standard deviation of %v", l.B)
	case l.Kind == "lognormal" && l.A <= 0:
		return fmt.Errorf("a mean of %v: that of a lognormal distribution is above 0", l.A)
	case l.Kind == "lognormal" && l.B > maxSpread*l.A:
		return fmt.Errorf("a standard deviation of %v with a mean of %v: that of a lognormal distribution is at most %g times the mean",
			l.B, l.A, maxSpread)
	case (l.Kind == "normal" || l.Kind == "lognormal") && (l.Min < 1 || l.Max < l.Min || l.Max > MaxTokens):
		return fmt.Errorf("lengths between %d and %d: the least is above 0, and the most not below it", l.Min, l.Max)
	}
	return nil
}

// draw draws one length.
func (l Lengths) draw(rng *rand.Rand) int {
	switch l.Kind {
	case "fixed":
		return int(l.A)
	case "uniform":
		return int(l.A) + rng.IntN(int(l.B)-int(l.A)+1)
	case "normal":
		return l.bound(l.A + l.B*rng.NormFloat64())
	}
	// Of a lognormal variable with mean m and deviation d the logarithm has variance
	// ln(1 + d²/m²) and mean ln m - variance/2.
	variance := math.Log1p(l.B / l.A * (l.B / l.A))
	return l.bound(math.Exp(math.Log(l.A) - variance/2 + math.Sqrt(variance)*rng.NormFloat64()))
}

// bound drops the fraction and clamps a length to the bounds.
func (l Lengths) bound(v float64) int {
	return int(math.Min(math.Max(math.Trunc(v), float64(l.Min)), float64(l.Max)))
}

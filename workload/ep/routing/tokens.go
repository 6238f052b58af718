package routing

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxTokens limits the tokens of a rank.
const MaxTokens = 1 << 20

// FromFile is the text for the tokens of a file of routes.
const FromFile = "file"

// Tokens is a distribution of the number of tokens of a rank: uniform from Least to Most.
type Tokens struct{ Least, Most int }

// ParseTokens reads a number, or uniform:MIN,MAX.
func ParseTokens(text string) (Tokens, error) {
	bounds, isRange := strings.CutPrefix(text, "uniform:")
	least, most, two := strings.Cut(bounds, ",")
	if isRange != two {
		return Tokens{}, fmt.Errorf("%q is no number of tokens: write a number, uniform:MIN,MAX or %s", text,
			FromFile)
	}
	if !two {
		most = least
	}
	var t Tokens
	var err error
	if t.Least, err = number(least); err == nil {
		t.Most, err = number(most)
	}
	if err == nil && (t.Least > t.Most || t.Most == 0) {
		err = fmt.Errorf("%q has no tokens", text)
	}
	return t, err
}

func number(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 0 || n > MaxTokens {
		return 0, fmt.Errorf("%q is no number of tokens from 0 to %d: write one, uniform:MIN,MAX or %s", text,
			MaxTokens, FromFile)
	}
	return n, nil
}

func (t Tokens) draw(s Settings) []int {
	list, rng := make([]int, s.Ranks), s.random(forTokens, 0)
	for i := range list {
		list[i] = t.Least + rng.IntN(t.Most-t.Least+1)
	}
	return list
}

// tokens returns the tokens of all ranks.
func (t *Table) tokens() (n int) {
	for _, of := range t.Tokens {
		n += of
	}
	return n
}

// selections returns the number of selections, masked ones included.
func (t *Table) selections() int { return t.tokens() * t.TopK }

package routing

import (
	"fmt"
	"strconv"
	"strings"
)

// MostTokens of a rank.
const MostTokens = 1 << 20

// FromFile are the tokens of a rank that a file of routes has.
const FromFile = "file"

// Tokens says how many tokens a rank has: from Least to Most, each number as likely as any.
type Tokens struct{ Least, Most int }

// ParseTokens reads a number, or uniform:LEAST,MOST.
func ParseTokens(text string) (Tokens, error) {
	bounds, isRange := strings.CutPrefix(text, "uniform:")
	least, most, two := strings.Cut(bounds, ",")
	if isRange != two {
		return Tokens{}, fmt.Errorf("%q is no number of tokens: write a number, uniform:LEAST,MOST or %s", text,
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
	if err != nil || n < 0 || n > MostTokens {
		return 0, fmt.Errorf("%q is no number of tokens from 0 to %d: write one, uniform:LEAST,MOST or %s", text,
			MostTokens, FromFile)
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

// tokens are those of all ranks.
func (t *Table) tokens() (n int) {
	for _, of := range t.Tokens {
		n += of
	}
	return n
}

// selections are those of all tokens, masked ones included.
func (t *Table) selections() int { return t.tokens() * t.TopK }

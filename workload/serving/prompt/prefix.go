package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// Prefix describes the shared prefixes of prompts.
type Prefix struct {
	Traced bool // equal blocks of a trace have equal text
	None   bool // nothing precedes the prompts
	// Groups is the number of shared prefixes with Tokens tokens each, used in turn; 0: none, each prompt begins with
	// its own nonce.
	Groups, Tokens int
}

// ParsePrefix reads cold, none, shared:GROUPS,TOKENS or as traced.
func ParsePrefix(text string) (Prefix, error) {
	switch text {
	case "cold":
		return Prefix{}, nil
	case "none":
		return Prefix{None: true}, nil
	case "as traced":
		return Prefix{Traced: true}, nil
	}
	numbers, shared := strings.CutPrefix(text, "shared:")
	groups, tokens, two := strings.Cut(numbers, ",")
	g, err := strconv.Atoi(strings.TrimSpace(groups))
	n, err2 := strconv.Atoi(strings.TrimSpace(tokens))
	if !shared || !two || err != nil || err2 != nil || g < 1 || n < 1 || g > MaxTokens || n > MaxTokens {
		return Prefix{}, fmt.Errorf("there is no prefix %q: write cold, none, shared:GROUPS,TOKENS or as traced", text)
	}
	return Prefix{Groups: g, Tokens: n}, nil
}

// String returns the form of ParsePrefix.
func (p Prefix) String() string {
	switch {
	case p.None:
		return "none"
	case p.Traced:
		return "as traced"
	case p.Groups > 0:
		return fmt.Sprintf("shared:%d,%d", p.Groups, p.Tokens)
	}
	return "cold"
}

// MarshalText writes String.
func (p Prefix) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText is ParsePrefix.
func (p *Prefix) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePrefix(string(text))
	return err
}

// Cancel says which requests a client cancels on purpose, and when. The zero value is none.
type Cancel struct {
	Share  float64 // probability for each measured request
	After  int64   // ns after it was sent; 0: Events
	Events int     // events with output; most servers send one per token
}

// ParseCancel reads SHARE after TIME or SHARE after N tokens, as 10% after 500ms; "" is none.
func ParseCancel(text string) (Cancel, error) {
	if text == "" {
		return Cancel{}, nil
	}
	form := fmt.Errorf("%q is no cancellation: write it as 10%% after 500ms or 10%% after 20 tokens", text)
	share, after, ok := strings.Cut(text, " after ")
	if !ok {
		return Cancel{}, form
	}
	p, err := quantity.ReadPercent(strings.TrimSpace(share))
	if err != nil {
		return Cancel{}, err
	}
	if !(p >= 0 && p <= 1) {
		return Cancel{}, fmt.Errorf("%q: a share is from 0%% to 100%%", text)
	}
	after = strings.TrimSpace(after)
	if number, tokens := strings.CutSuffix(after, "tokens"); tokens {
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n < 1 || n > MaxTokens {
			return Cancel{}, form
		}
		return Cancel{Share: float64(p), Events: n}, nil
	}
	d, err := quantity.ParseTime(after)
	if err != nil {
		return Cancel{}, err
	}
	if d <= 0 {
		return Cancel{}, fmt.Errorf("%q: a request is cancelled after a time above 0", text)
	}
	return Cancel{Share: float64(p), After: int64(d)}, nil
}

// String returns the form of ParseCancel.
func (c Cancel) String() string {
	switch {
	case c == Cancel{}:
		return ""
	case c.Events > 0:
		return fmt.Sprintf("%v after %d tokens", quantity.Percent(c.Share), c.Events)
	}
	return fmt.Sprintf("%v after %v", quantity.Percent(c.Share), quantity.Time(c.After))
}

package expression

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/weir-bench/weir/internal/quantity"
)

// Error is an error in an expression, at a span of its characters.
type Error struct {
	From, To int // character offsets, To exclusive
	Message  string
	Hint     string // what to do; may be empty
}

func (e *Error) Error() string {
	s := fmt.Sprintf("%s (at character %d)", e.Message, e.From+1)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

func errorf(from, to int, hint, format string, args ...any) *Error {
	return &Error{From: from, To: to, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (t token) errorf(hint, format string, args ...any) *Error {
	return errorf(t.from, t.to, hint, format, args...)
}

// maxText bounds the text for a recursive parser.
const maxText = 4096

type tokenKind int

const (
	nameToken     tokenKind = iota // with its dots: latency.p99
	quantityToken                  // a number with or without a unit
	stringToken
	symbolToken
	endToken // after the last one
)

type token struct {
	kind     tokenKind
	text     string
	from, to int
	quantity quantity.Quantity
}

// is reports whether the token is the word or symbol.
func (t token) is(text string) bool {
	return (t.kind == nameToken || t.kind == symbolToken) && t.text == text
}

func isRelation(t token) bool {
	switch t.text {
	case "within", "between", "increases", "decreases":
		return t.kind == nameToken
	case ">=", "<=", ">", "<", "==", "!=", "=", "≥", "≤":
		return t.kind == symbolToken
	}
	return false
}

func isBoolean(t token) bool {
	switch t.text {
	case "and", "or", "not":
		return t.kind == nameToken
	case "&&", "||", "!":
		return t.kind == symbolToken
	}
	return false
}

// keywords are words after a number that are not its unit.
var keywords = map[string]bool{
	"within": true, "of": true, "between": true, "and": true, "or": true, "not": true, "where": true, "with": true,
	"over":      true,
	"increases": true, "decreases": true, "in": true, "matches": true, "contains": true, "startsWith": true,
	"endsWith": true,
}

// scan splits a text into tokens.
func scan(text string) ([]rune, []token, *Error) {
	r := []rune(text)
	if len(r) > maxText {
		return r, nil, errorf(0, 1, "", "the expression is longer than %d characters", maxText)
	}
	var tokens []token
	for at := 0; at < len(r); {
		c := r[at]
		var t token
		var err *Error
		switch {
		case unicode.IsSpace(c):
			at++
			continue
		case startsName(c):
			t = token{kind: nameToken, from: at, to: endOfName(r, at)}
		case digit(c) || c == '.' && at+1 < len(r) && digit(r[at+1]) && !(at > 0 && r[at-1] == '.'):
			t, err = scanQuantity(r, at)
		case c == '"' || c == '\'' || c == '`':
			t, err = scanString(r, at)
		default:
			t = token{kind: symbolToken, from: at, to: at + 1}
			if at+1 < len(r) && strings.Contains(">= <= == != && || ** .. ?? ?. ", string(r[at:at+2])+" ") {
				t.to++
			}
		}
		if err != nil {
			return r, nil, err
		}
		t.text = string(r[t.from:t.to])
		tokens = append(tokens, t)
		at = t.to
	}
	return r, tokens, nil
}

func startsName(c rune) bool { return c == '_' || c == '$' || unicode.IsLetter(c) }
func digit(c rune) bool      { return c >= '0' && c <= '9' }

func endOfName(r []rune, at int) int {
	follows := func(c rune) bool { return startsName(c) || digit(c) }
	for at < len(r) && (follows(r[at]) || r[at] == '.' && at+1 < len(r) && follows(r[at+1])) {
		at++
	}
	return at
}

func scanString(r []rune, from int) (token, *Error) {
	quote := r[from]
	for at := from + 1; at < len(r); at++ {
		switch {
		case r[at] == '\\' && quote != '`':
			at++
		case r[at] == quote:
			return token{kind: stringToken, from: from, to: at + 1}, nil
		}
	}
	return token{}, errorf(from, len(r), "close it with "+string(quote), "the text is not closed")
}

// scanQuantity reads a number and its unit. The unit may follow a space if the word is a unit.
func scanQuantity(r []rune, from int) (token, *Error) {
	at := from
	for at < len(r) && (digit(r[at]) || r[at] == '_' || r[at] == '.' && at+1 < len(r) && digit(r[at+1])) {
		at++
	}
	if at < len(r) && (r[at] == 'e' || r[at] == 'E') {
		exponent := at + 1
		if exponent < len(r) && (r[exponent] == '+' || r[exponent] == '-') {
			exponent++
		}
		if exponent < len(r) && digit(r[exponent]) {
			for at = exponent; at < len(r) && digit(r[at]); at++ {
			}
		}
	}
	end, err := scanUnit(r, from, at)
	if err != nil {
		return token{}, err
	}
	q, perr := quantity.Parse(string(r[from:end]))
	if perr != nil {
		return token{}, errorf(from, end, "", "%v", perr)
	}
	return token{kind: quantityToken, from: from, to: end, quantity: q}, nil
}

// scanUnit finds the end of the unit of a number that ends at `at`.
func scanUnit(r []rune, from, at int) (int, *Error) {
	start := at
	for start < len(r) && r[start] == ' ' {
		start++
	}
	if perSecond(r, start+1) && r[start] == '1' && start > at {
		return start + 3, nil
	}
	if start == at && perSecond(r, at) {
		return at + 2, nil
	}
	if start == at && at < len(r) && r[at] == '%' {
		return at + 1, nil
	}
	end := start
	for end < len(r) && (unicode.IsLetter(r[end]) || digit(r[end]) && end > start || r[end] == '_') {
		end++
	}
	word := string(r[start:end])
	if word == "" || start > at && keywords[word] {
		return at, nil
	}
	if perSecond(r, end) {
		if _, ok := quantity.UnitOf(word + "/s"); ok {
			return end + 2, nil
		}
	}
	if each := endOfEach(r, end); each > end {
		if _, ok := quantity.UnitOf(string(r[start:each])); ok {
			return each, nil
		}
	}
	if _, ok := quantity.UnitOf(word); !ok {
		_, err := quantity.Parse(string(r[from:at]) + " " + word)
		return 0, errorf(start, end, "", "%v", err)
	}
	return end, nil
}

// endOfEach returns the end of a word after a slash, as in s/GB.
func endOfEach(r []rune, at int) int {
	if at+1 >= len(r) || r[at] != '/' || !startsName(r[at+1]) {
		return at
	}
	return endOfName(r, at+1)
}

func perSecond(r []rune, at int) bool {
	return at+1 < len(r) && r[at] == '/' && r[at+1] == 's' &&
		(at+2 == len(r) || !startsName(r[at+2]) && !digit(r[at+2]))
}

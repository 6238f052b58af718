package stream

import (
	"bytes"
	"errors"
	"strings"
	"unicode"

	"weir/redact"
)

const mostWords = 200

// Words makes a short line of what a stranger wrote.
func Words(s string) string {
	s = redact.Hidden().Beginning(s) // before anything is taken out of it, or cut off
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	for i := range s {
		if i > mostWords {
			return s[:i] + "…"
		}
	}
	return s
}

// mostBegin is how much is shown of what is not understood.
const mostBegin = 40

// Begin is the beginning of what a stranger wrote, in one line.
func Begin(s string) string {
	s = Words(s)
	n := 0
	for i := range s {
		if n++; n > mostBegin {
			return s[:i] + "…"
		}
	}
	return s
}

// noJSON says what is wrong with what should have been an answer in JSON.
func noJSON(data []byte, err error) error {
	switch {
	case errors.Is(err, errForm):
		return malformed("what the endpoint sent is JSON of another form: %s", Begin(string(data)))
	case len(bytes.TrimSpace(data)) == 0:
		return malformed("the endpoint sent nothing where JSON is expected")
	}
	return malformed("what the endpoint sent is no JSON: %s", Begin(string(data)))
}

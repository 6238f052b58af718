package stream

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weir-bench/weir/internal/redact"
)

const maxWords = 200

// Words makes a short line of untrusted text.
func Words(s string) string {
	s = redact.Hidden().Beginning(s) // first, so that no part of a secret remains
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	s = strings.Join(strings.Fields(s), " ")
	for i := range s {
		if i > maxWords {
			return s[:i] + "…"
		}
	}
	return s
}

// maxBegin limits the excerpt of an invalid answer.
const maxBegin = 40

// Begin returns the beginning of untrusted text, in one line.
func Begin(s string) string {
	if binary(s) {
		text := fmt.Sprintf("the bytes % x", s[:min(len(s), 8)])
		if strings.HasPrefix(s, gzipMagic) {
			text += " (gzip without Content-Encoding)"
		}
		return text
	}
	s = Words(s)
	n := 0
	for i := range s {
		if n++; n > maxBegin {
			return s[:i] + "…"
		}
	}
	return s
}

const gzipMagic = "\x1f\x8b"

// binary reports whether what begins so is no text.
func binary(s string) bool {
	for i, r := range s[:min(len(s), 2*utf8.UTFMax)] {
		if i < utf8.UTFMax && (r == utf8.RuneError || unicode.IsControl(r) && !unicode.IsSpace(r) && r != '\x1b') {
			return true
		}
	}
	return false
}

// noJSON is the error of an answer that is not the expected JSON.
func noJSON(data []byte, err error) error {
	switch {
	case errors.Is(err, errForm):
		return malformed("what the endpoint sent is JSON of another form: %s", Begin(string(data)))
	case errors.Is(err, errSeveral):
		return malformed("what the endpoint sent is several JSON documents, and no events: %s", Begin(string(data)))
	case len(bytes.TrimSpace(data)) == 0:
		return malformed("the endpoint sent nothing where JSON is expected")
	}
	return malformed("what the endpoint sent is no JSON: %s", Begin(string(data)))
}

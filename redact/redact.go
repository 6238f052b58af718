// Package redact replaces the values of secrets in what is kept or shown. Texts are redacted where
// they enter, before they are cut to length, escaped or cleaned: what is left of a value after that
// would be found by nobody. A value is found in spite of characters that others take out of a text
// (control characters, sequences for a terminal, line breaks of wrapped lines), and in the escaped
// forms of JSON, URLs, HTML and quoted strings. Encodings such as base64 are not.
package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
)

// Redacted stands for a value that nothing may show.
const Redacted = "***"

// Least is the length in bytes below which a value cannot be redacted: it would be found everywhere.
const Least = 4

// Values are those that nothing may show that is kept, the longest first.
type Values []string

// Of are the values of secrets, and what programs show of one by itself: the lines of a key, and what
// follows the word Bearer or the like.
func Of(secrets ...string) Values {
	var all Values
	for _, value := range secrets {
		all = append(all, value)
		for line := range strings.Lines(value) {
			all = append(all, strings.TrimRight(line, "\r\n"))
		}
		if words := strings.Fields(value); len(words) == 2 && len(words[1]) >= 2*Least {
			all = append(all, words[1])
		}
	}
	slices.Sort(all)
	all = slices.DeleteFunc(slices.Compact(all), func(s string) bool { return len(s) < Least })
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// Text replaces every value in a text.
func (v Values) Text(text string) string { return v.text(text, false) }

// Beginning is Text for what may have been cut: the beginning of a value at its end goes, too.
func (v Values) Beginning(text string) string { return v.text(text, true) }

func (v Values) text(text string, cut bool) string {
	if len(v) == 0 {
		return text
	}
	var b bytes.Buffer
	w := Writer{values: v, to: &b}
	_, _ = w.Write([]byte(text)) // a buffer takes everything
	if !cut || w.least() < Least {
		_ = w.Flush()
	} else {
		b.WriteString(Redacted)
	}
	return b.String()
}

// JSON redacts the texts in a JSON value. What is no JSON is dropped.
func (v Values) JSON(text json.RawMessage) json.RawMessage {
	if len(v) == 0 || len(text) == 0 {
		return text
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // as they were written
	if d.Decode(&value) != nil {
		return nil
	}
	out, err := json.Marshal(v.value(value))
	if err != nil {
		return nil
	}
	return out
}

func (v Values) value(of any) any {
	switch of := of.(type) {
	case string:
		return v.Text(of)
	case []any:
		for i := range of {
			of[i] = v.value(of[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(of))
		for name, value := range of {
			clean[v.Text(name)] = v.value(value)
		}
		return clean
	}
	return of
}

// process are the values that a rank's process hides.
var process atomic.Pointer[Values]

// Hide makes values those of this process. A rank gets them from its agent, over the connection that
// the two have.
func Hide(v Values) { process.Store(&v) }

// Hidden are the values of this process.
func Hidden() Values {
	if v := process.Load(); v != nil {
		return *v
	}
	return nil
}

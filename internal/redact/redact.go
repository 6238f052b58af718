// Package redact replaces the values of secrets in everything that is stored or shown. It redacts
// texts where they enter, before they are truncated, escaped or cleaned, since fragments of a value
// could not be found later. It finds values despite characters that others remove (control
// characters, terminal sequences, line breaks of wrapped lines), and in the escaped forms of JSON,
// URLs, HTML and quoted strings, but not in encodings such as base64.
package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
)

// Redacted replaces a value.
const Redacted = "***"

// Least is the length in bytes below which a value is not redacted: it would match everywhere.
const Least = 4

// Values are the values to redact, the longest first.
type Values []string

// Of returns the values of secrets, and their parts that programs show separately: the lines of a
// key, and the text after the word Bearer or the like.
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

// Beginning is Text for a text that may be truncated: it also replaces the beginning of a value at
// the end.
func (v Values) Beginning(text string) string { return v.text(text, true) }

func (v Values) text(text string, cut bool) string {
	if len(v) == 0 {
		return text
	}
	var b bytes.Buffer
	w := Writer{values: v, to: &b}
	_, _ = w.Write([]byte(text)) // writing to a buffer cannot fail
	if !cut || w.least() < Least {
		_ = w.Flush()
	} else {
		b.WriteString(Redacted)
	}
	return b.String()
}

// JSON redacts the texts in a JSON value. It drops invalid JSON.
func (v Values) JSON(text json.RawMessage) json.RawMessage {
	if len(v) == 0 || len(text) == 0 {
		return text
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // keep their spelling
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

// Hide sets the values of this process. A rank gets them from its agent over their connection.
func Hide(v Values) { process.Store(&v) }

// Hidden returns the values of this process.
func Hidden() Values {
	if v := process.Load(); v != nil {
		return *v
	}
	return nil
}

// Package placeholder has texts with names that get values only when a launch runs, such as the
// number of a free port: "--port=${port.a}". In such a text "$$" is one dollar sign; other dollar
// signs are not allowed.
package placeholder

import (
	"errors"
	"fmt"
	"strings"
)

// Of returns the text that is replaced by the value of a name.
func Of(name string) string { return "${" + name + "}" }

// Quote escapes a text without names.
func Quote(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// Expand replaces each name by its value. It prefixes errors of lookup with the name.
func Expand(text string, lookup func(name string) (string, error)) (string, error) {
	var out strings.Builder
	for {
		plain, rest, found := strings.Cut(text, "$")
		out.WriteString(plain)
		if !found {
			return out.String(), nil
		}
		if after, ok := strings.CutPrefix(rest, "$"); ok {
			out.WriteByte('$')
			text = after
			continue
		}
		name, after, closed := strings.Cut(rest, "}")
		name, opened := strings.CutPrefix(name, "{")
		if !opened || !closed || name == "" {
			return "", fmt.Errorf("%q: a dollar sign must be doubled or begin ${NAME}", "$"+rest)
		}
		value, err := lookup(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", Of(name), err)
		}
		out.WriteString(value)
		text = after
	}
}

// Names returns the names in a text, in order.
func Names(text string) ([]string, error) {
	var all []string
	_, err := Expand(text, func(name string) (string, error) {
		all = append(all, name)
		return "", nil
	})
	return all, err
}

// errUnquoted is internal: Unquote only reports whether there are names.
var errUnquoted = errors.New("a name")

// Unquote reverses Quote; false: the text has names, or is invalid.
func Unquote(text string) (string, bool) {
	plain, err := Expand(text, func(string) (string, error) { return "", errUnquoted })
	return plain, err == nil
}

// Package placeholder has texts with names whose values are known only when a launch runs,
// such as the number of a free port: "--port=${port.a}". In such a text "$$" stands for one
// dollar sign, and a dollar sign stands nowhere else.
package placeholder

import (
	"errors"
	"fmt"
	"strings"
)

// Of is the text that stands for the value of a name.
func Of(name string) string { return "${" + name + "}" }

// Quote is a text that stands for itself.
func Quote(text string) string { return strings.ReplaceAll(text, "$", "$$") }

// Expand replaces each name by its value. The error of lookup gets the name in front.
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
			return "", fmt.Errorf("%q: a dollar sign is neither doubled nor begins ${NAME}", "$"+rest)
		}
		value, err := lookup(name)
		if err != nil {
			return "", fmt.Errorf("%s: %w", Of(name), err)
		}
		out.WriteString(value)
		text = after
	}
}

// Names are the names in a text, in its order.
func Names(text string) ([]string, error) {
	var all []string
	_, err := Expand(text, func(name string) (string, error) {
		all = append(all, name)
		return "", nil
	})
	return all, err
}

// errUnquoted is never shown: Unquote says only whether there are names.
var errUnquoted = errors.New("a name")

// Unquote is the text of one without names; false: it has some, or is none of Quote.
func Unquote(text string) (string, bool) {
	plain, err := Expand(text, func(string) (string, error) { return "", errUnquoted })
	return plain, err == nil
}

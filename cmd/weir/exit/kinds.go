package exit

import (
	"fmt"
	"regexp"
	"strings"
)

// What libraries say of a value of a file of JSON that is of another kind than what it is read into.
var (
	// the number of the case that was read by itself, what the value is, into what it was read, where, and why
	pointed = regexp.MustCompile(`(?:case (\d+): )?json: (?:cannot|unable to) unmarshal(?: JSON (\w+)(?: \S+)?)? ` +
		`into Go (\S+) within "(/[^"]*)"(?:: (.*))?`)
	dotted = regexp.MustCompile(`json: cannot unmarshal (\w+)(?: \S+)? into Go struct field (\S+) of type (\S+)`)
	asTime = regexp.MustCompile(`parsing time (".*?") as .*`)
)

// kinds says of values in a file of JSON what they are and what they must be, at their place.
func kinds(message string) string {
	message = pointed.ReplaceAllStringFunc(message, func(text string) string {
		m := pointed.FindStringSubmatch(text)
		at := m[4]
		if m[1] != "" {
			at = "/cases/" + m[1] + at
		}
		if t := asTime.FindStringSubmatch(m[5]); t != nil {
			return fmt.Sprintf("%s is %s, not %s", at, t[1], kindOf(m[3]))
		}
		if m[2] == "" {
			return at + ": " + m[5]
		}
		return mistaken(at, m[2], m[3])
	})
	return dotted.ReplaceAllStringFunc(message, func(text string) string {
		m := dotted.FindStringSubmatch(text)
		_, at, ok := strings.Cut(m[2], ".") // the first is the name of a type
		if !ok {
			at = m[2]
		}
		return mistaken(at, m[1], m[3])
	})
}

func mistaken(at, is, goType string) string {
	word, ok := map[string]string{
		"string": "a text", "number": "a number", "object": "a mapping", "array": "a list", "boolean": "true or false",
		"bool": "true or false", "true": "true", "false": "false",
	}[is]
	if !ok {
		word = is
	}
	must := kindOf(goType)
	if must == "" || must == word {
		return fmt.Sprintf("%s is %s that cannot stand there", at, word)
	}
	return fmt.Sprintf("%s is %s, not %s", at, word, must)
}

// kindOf is how a person calls what is read into a type of Go, "" where its name does not tell: named types
// may be texts or mappings.
func kindOf(goType string) string {
	t := strings.TrimLeft(goType, "*")
	switch {
	case strings.HasPrefix(t, "["):
		return "a list"
	case strings.HasPrefix(t, "map["), strings.HasPrefix(t, "results.Named"), strings.HasSuffix(t, "MetricValues"):
		return "a mapping"
	case t == "time.Time":
		return "a time like 2026-01-31T12:00:00Z"
	case t == "string":
		return "a text"
	case t == "bool":
		return "true or false"
	case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "uint"):
		return "a whole number"
	case strings.HasPrefix(t, "float"):
		return "a number"
	}
	return ""
}

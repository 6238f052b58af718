package exit

import (
	"fmt"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
)

// Messages of encoding/json about a value of the wrong type.
var (
	// typeAtPointer has the index of a case, the JSON type, the Go type, the JSON pointer and the reason.
	typeAtPointer = lazyregexp.New(`(?:case (\d+): )?json: (?:cannot|unable to) unmarshal(?: JSON (\w+)(?: \S+)?)? ` +
		`into Go (\S+) within "(/[^"]*)"(?:: (.*))?`)
	typeAtField = lazyregexp.New(`json: cannot unmarshal (\w+)(?: \S+)? into Go struct field (\S+) of type (\S+)`)
	badTime     = lazyregexp.New(`parsing time (".*?") as .*`)
)

// rewordTypes rewords messages of encoding/json about values of the wrong type.
func rewordTypes(message string) string {
	message = typeAtPointer().ReplaceAllStringFunc(message, func(text string) string {
		m := typeAtPointer().FindStringSubmatch(text)
		at := m[4]
		if m[1] != "" {
			at = "/cases/" + m[1] + at
		}
		if t := badTime().FindStringSubmatch(m[5]); t != nil {
			return fmt.Sprintf("%s is %s, not %s", at, t[1], typeName(m[3]))
		}
		if m[2] == "" {
			return at + ": " + m[5]
		}
		return wrongType(at, m[2], m[3])
	})
	return typeAtField().ReplaceAllStringFunc(message, func(text string) string {
		m := typeAtField().FindStringSubmatch(text)
		_, at, ok := strings.Cut(m[2], ".") // the first part is the name of a type
		if !ok {
			at = m[2]
		}
		return wrongType(at, m[1], m[3])
	})
}

func wrongType(at, is, goType string) string {
	word, ok := map[string]string{
		"string": "a text", "number": "a number", "object": "a mapping", "array": "a list", "boolean": "true or false",
		"bool": "true or false", "true": "true", "false": "false",
	}[is]
	if !ok {
		word = is
	}
	must := typeName(goType)
	if must == "" || must == word {
		return fmt.Sprintf("%s is %s that is not allowed there", at, word)
	}
	return fmt.Sprintf("%s is %s, not %s", at, word, must)
}

// typeName is the user's name of a Go type, "" for other named types, which may be texts or mappings.
func typeName(goType string) string {
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

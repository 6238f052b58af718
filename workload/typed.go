package workload

import (
	"encoding/json"
	"strings"
)

// IsLiteral says whether a text of a structure with types stands for a scalar of JSON: a number, a truth
// value, null, or a string that is written in quotes. All other texts stand for themselves.
func IsLiteral(text string) bool {
	return json.Valid([]byte(text)) && !strings.ContainsAny(text, "{[")
}

// TypedText is how a structure with types has a string: as itself, or in quotes where it would
// be taken for something else.
func TypedText(text string) string {
	if !IsLiteral(text) {
		return text
	}
	var b strings.Builder
	writeText(&b, text)
	return b.String()
}

// Flow writes the JSON of a structure of the option on a line, for a person; false: it is none.
func (o Option) Flow(text string) (string, bool) {
	if o.Type != Structure {
		return "", false
	}
	s, err := ReadStructure(text)
	if err != nil {
		return "", false
	}
	return o.FlowOf(s), true
}

// FlowOf writes a part of a structure of the option on a line, for a person.
func (o Option) FlowOf(s *Structured) string { return s.flow(o.Typed) }

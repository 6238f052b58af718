package option

import "github.com/weir-bench/weir/internal/structure"

// Flow formats the JSON of a structure of the option on a line, for people; false: it is invalid.
func (o Option) Flow(text string) (string, bool) {
	if o.Type != Structure {
		return "", false
	}
	s, err := structure.Read(text)
	if err != nil {
		return "", false
	}
	return o.FlowOf(s), true
}

// FlowOf formats a part of a structure of the option on a line, for people.
func (o Option) FlowOf(s *structure.Value) string { return s.FlowTyped(o.Typed) }

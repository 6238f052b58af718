package results

import (
	"cmp"
	"slices"
)

// Ignored is an environment variable of the scenario that a library said it has no
// use for.
type Ignored struct {
	Name       string `json:"name"`
	Suggestion string `json:"suggestion,omitempty"` // what the library takes for the nearest that it knows
}

// String says what is wrong with it.
func (v Ignored) String() string {
	s := v.Name + " is set and the library ignores it"
	if v.Suggestion != "" {
		s += "; did you mean " + v.Suggestion + "?"
	}
	return s
}

// MergeIgnored has each variable once, by name.
func MergeIgnored(list []Ignored) []Ignored {
	var out []Ignored
	for _, v := range list {
		i := slices.IndexFunc(out, func(o Ignored) bool { return o.Name == v.Name })
		switch {
		case i < 0:
			out = append(out, v)
		case out[i].Suggestion == "":
			out[i].Suggestion = v.Suggestion
		}
	}
	slices.SortFunc(out, func(a, b Ignored) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

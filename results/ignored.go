package results

import (
	"cmp"
	"slices"
)

// Ignored is an environment variable that did nothing: a library said that it has no use
// for it, or weir's own value replaced it.
type Ignored struct {
	Name       string `json:"name"`
	Suggestion string `json:"suggestion,omitempty" doc:"The nearest name that the library knows."`
	ByWeir     bool   `json:"by_weir,omitzero" doc:"Weir's own value replaced it; otherwise a library had no use for it."`
}

// String says what is wrong with it.
func (v Ignored) String() string {
	if v.ByWeir {
		return v.Name + " is set and has no effect: weir needs a value of its own for it"
	}
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
			out[i].ByWeir = out[i].ByWeir || v.ByWeir
		}
	}
	slices.SortFunc(out, func(a, b Ignored) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

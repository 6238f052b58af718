package results

import (
	"cmp"
	"slices"
)

// Ignored is an environment variable without effect: a library reported it as unused, it belongs to
// another fabric, or weir's own value replaced it.
type Ignored struct {
	Name       string `json:"name"`
	Suggestion string `json:"suggestion,omitempty" doc:"The nearest name that the library knows."`
	Reason     string `json:"reason,omitempty" doc:"Why nothing reads it, where that is known: the name is right."`
	ByWeir     bool   `json:"by_weir,omitzero" doc:"Weir's own value replaced it; otherwise a library had no use for it."`
}

// String says why it has no effect.
func (v Ignored) String() string {
	if v.ByWeir {
		return v.Name + " is set without effect: weir sets its own value"
	}
	if v.Reason != "" {
		return v.Name + " is set without effect: " + v.Reason
	}
	s := v.Name + " is set and the library ignores it"
	if v.Suggestion != "" && v.Suggestion != v.Name { // in documents of older versions
		s += "; did you mean " + v.Suggestion + "?"
	}
	return s
}

// MergeIgnored returns each variable once, by name.
func MergeIgnored(list []Ignored) []Ignored {
	var out []Ignored
	for _, v := range list {
		i := slices.IndexFunc(out, func(o Ignored) bool { return o.Name == v.Name })
		switch {
		case i < 0:
			out = append(out, v)
		case out[i].Suggestion == "" && out[i].Reason == "":
			out[i].Suggestion, out[i].Reason = v.Suggestion, v.Reason
			out[i].ByWeir = out[i].ByWeir || v.ByWeir
		}
	}
	slices.SortFunc(out, func(a, b Ignored) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

package results

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/weir-bench/weir/internal/quantity"
)

// OptionDiffers is followed by the name of the option.
const OptionDiffers = "option "

// OptionDifferences compares the options that both cases of a pair have, but for those that follow from other runs:
// what was asked for, and not what came of it. Differences list the keys of the new cases.
func OptionDifferences(pairs []CasePair) []Difference {
	d := &differenceSet{}
	for _, p := range pairs {
		was, is := maps.Clone(p.Base.Options), maps.Clone(p.New.Options)
		for name := range p.New.Options {
			_, both := was[name]
			if !both || slices.Contains(p.Base.Later, name) || slices.Contains(p.New.Later, name) {
				delete(was, name)
				delete(is, name)
			}
		}
		maps.DeleteFunc(was, func(name string, _ any) bool { _, both := is[name]; return !both })
		d.addOptions(p.New.Key, was, is)
	}
	return d.list
}

// addOptions compares options by name, and structured ones by the path of each value, such as "roles.server.run".
func (d *differenceSet) addOptions(of string, base, now map[string]any) {
	was, is := texts(base), texts(now)
	for _, name := range slices.Collect(maps.Keys(was)) {
		if other, both := is[name]; both && was[name] != other {
			expand(was, name)
			expand(is, name)
		}
	}
	d.addAll(of, OptionDiffers, was, is)
}

func texts(values map[string]any) map[string]string {
	out := make(map[string]string, len(values))
	for k, v := range values {
		out[k] = quantity.Text(v)
		if structured(v) {
			text, _ := json.Marshal(v) // decoded from JSON: it cannot fail
			out[k] = string(text)
		}
	}
	return out
}

// expand replaces the text of a structured value by the texts of the values in it, by their paths.
func expand(texts map[string]string, name string) {
	var v any
	if err := json.Unmarshal([]byte(texts[name]), &v); err != nil || !structured(v) {
		return // a plain text
	}
	delete(texts, name)
	flatten(texts, name, v)
}

func structured(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

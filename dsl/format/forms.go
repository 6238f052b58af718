package format

import (
	"slices"

	"github.com/weir-bench/weir/dsl/grammar"
)

// scenario are the forms of a whole file.
var scenario = []grammar.Form{{Shape: grammar.Section, Keys: grammar.Scenario}}

// keysOf returns the keys that a value of the forms may have.
func keysOf(forms []grammar.Form) []grammar.Key {
	var keys []grammar.Key
	for _, f := range forms {
		if f.Shape == grammar.Section {
			keys = append(keys, f.Keys...)
		}
	}
	return keys
}

// formsOf returns the forms of a key in a value of the forms.
func formsOf(forms []grammar.Form, name string) []grammar.Form {
	var out []grammar.Form
	for _, f := range forms {
		switch f.Shape {
		case grammar.Map:
			out = append(out, f.Value...)
		case grammar.Section:
			k, _ := grammar.Find(f.Keys, name)
			out = append(out, k.Forms...)
		case grammar.Named:
			out = append(out, grammar.Form{Shape: grammar.Section, Keys: f.Keys})
		case grammar.Sweep:
			if k, ok := grammar.Find(grammar.SweepKeys, name); ok {
				out = append(out, k.Forms...)
			}
		}
	}
	return out
}

func itemForms(forms []grammar.Form) []grammar.Form {
	var items []grammar.Form
	for _, f := range forms {
		items = append(items, f.Item...)
	}
	return items
}

func isExpression(forms []grammar.Form) bool {
	return slices.ContainsFunc(forms, func(f grammar.Form) bool { return f.Type == grammar.Expression })
}

// onlySection reports whether all forms are sections.
func onlySection(forms []grammar.Form) bool {
	return len(forms) > 0 && !slices.ContainsFunc(forms, func(f grammar.Form) bool {
		return f.Shape != grammar.Section && f.Shape != grammar.Map && f.Shape != grammar.Sweep
	})
}

// onlyTexts reports whether all scalar forms are texts.
func onlyTexts(forms []grammar.Form) bool {
	texts := []grammar.Type{
		grammar.String, grammar.Condition, grammar.Assertion, grammar.File, grammar.Date, grammar.Time, grammar.Percent,
	}
	seen := false
	for _, f := range forms {
		if f.Shape != grammar.Scalar {
			continue
		}
		if !slices.Contains(texts, f.Type) {
			return false
		}
		seen = true
	}
	return seen
}

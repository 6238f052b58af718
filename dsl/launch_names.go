package dsl

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"weir/placeholder"
	"weir/workload"
)

// lateMark is around a name of a launch in a text until the text is complete. No other text
// that a scenario can have a use for holds it.
const lateMark = "\x00"

// path is a reference as the words of a name; false: a part of it is no word.
func path(t hcl.Traversal) (words []string, ok bool) {
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			words = append(words, step.Name)
		case hcl.TraverseAttr:
			words = append(words, step.Name)
		case hcl.TraverseIndex:
			if step.Key.Type() != cty.String || !step.Key.IsKnown() || step.Key.IsNull() {
				return nil, false
			}
			words = append(words, step.Key.AsString())
		default:
			return nil, false
		}
	}
	return words, true
}

// isLateRoot says whether names of a launch begin with a word.
func isLateRoot(root string, late []string) bool {
	return slices.ContainsFunc(late, func(name string) bool { return strings.HasPrefix(name, root+".") })
}

// isLate says whether words are a name of a launch.
func isLate(words, late []string) bool {
	return slices.ContainsFunc(late, func(name string) bool {
		want := strings.Split(name, ".")
		if len(want) != len(words) {
			return false
		}
		for i, w := range want {
			if w != words[i] && (w != "*" || !identifier.MatchString(words[i])) {
				return false
			}
		}
		return true
	})
}

// lateNames is what an author may write, for advice.
func lateNames(late []string) string {
	var all []string
	for _, name := range late {
		all = append(all, strings.ReplaceAll(name, "*", "NAME"))
	}
	return strings.Join(all, ", ")
}

// lateValues gives the names of a launch that an expression mentions their values: marked
// texts, of which placeholders are made when the text around them is complete.
func lateValues(expr hcl.Expression, late []string, into map[string]cty.Value) {
	tree := map[string]any{}
	for _, t := range expr.Variables() {
		words, ok := path(t)
		if !ok || !isLate(words, late) {
			continue
		}
		at := tree
		for _, w := range words[:len(words)-1] {
			if at[w] == nil {
				at[w] = map[string]any{}
			}
			at = at[w].(map[string]any) // all names of a root have as many words
		}
		at[words[len(words)-1]] = cty.StringVal(lateMark + strings.Join(words, ".") + lateMark)
	}
	for root, v := range tree {
		into[root] = objectOf(v)
	}
}

// objectOf makes objects of mappings, whose leaves are values.
func objectOf(v any) cty.Value {
	if leaf, ok := v.(cty.Value); ok {
		return leaf
	}
	fields := map[string]cty.Value{}
	for name, inner := range v.(map[string]any) {
		fields[name] = objectOf(inner)
	}
	return cty.ObjectVal(fields)
}

// placeholders makes a text of package placeholder of one with marked names; false: a
// function has changed a name.
func placeholders(text string, late []string) (string, bool) {
	parts := strings.Split(text, lateMark)
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i%2 == 0:
			b.WriteString(placeholder.Quote(part))
		case workload.OfRuns(part) || isLate(strings.Split(part, "."), late):
			b.WriteString(placeholder.Of(part))
		default:
			return "", false
		}
	}
	return b.String(), len(parts)%2 == 1
}

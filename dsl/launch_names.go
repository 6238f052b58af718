// Names that get values only when a launch runs, as port.NAME.

package dsl

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/placeholder"
)

// nameMark surrounds the name of a launch in a text until the text is complete. No useful text
// contains it.
const nameMark = "\x00"

// path returns a reference as words; false if a part of it is not a word.
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

// isLaunchRoot reports whether a name of a launch begins with the word.
func isLaunchRoot(root string, launchNames []string) bool {
	return slices.ContainsFunc(launchNames, func(name string) bool { return strings.HasPrefix(name, root+".") })
}

// isLaunchName reports whether words are a name of a launch.
func isLaunchName(words, launchNames []string) bool {
	return slices.ContainsFunc(launchNames, func(name string) bool {
		want := strings.Split(name, ".")
		if len(want) != len(words) {
			return false
		}
		for i, w := range want {
			if w != words[i] && (w != "*" || !identifier().MatchString(words[i])) {
				return false
			}
		}
		return true
	})
}

// launchNamesHint lists the names for a hint.
func launchNamesHint(launchNames []string) string {
	var all []string
	for _, name := range launchNames {
		all = append(all, strings.ReplaceAll(name, "*", "NAME"))
	}
	return strings.Join(all, ", ")
}

// launchNameValues gives the launch names in an expression their values: marked texts, which become
// placeholders when the text around them is complete.
func launchNameValues(expr hcl.Expression, launchNames []string, into map[string]cty.Value) {
	tree := map[string]any{}
	for _, t := range expr.Variables() {
		words, ok := path(t)
		if !ok || !isLaunchName(words, launchNames) {
			continue
		}
		at := tree
		for _, w := range words[:len(words)-1] {
			if at[w] == nil {
				at[w] = map[string]any{}
			}
			at = at[w].(map[string]any) // all names of a root have equally many words
		}
		at[words[len(words)-1]] = cty.StringVal(nameMark + strings.Join(words, ".") + nameMark)
	}
	for root, v := range tree {
		into[root] = objectOf(v)
	}
}

// objectOf converts mappings with values as leaves to objects.
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

// placeholders converts marked names in a text to placeholders. It returns false if a function
// changed a name.
func placeholders(text string, launchNames []string) (string, bool) {
	parts := strings.Split(text, nameMark)
	var b strings.Builder
	for i, part := range parts {
		switch {
		case i%2 == 0:
			b.WriteString(placeholder.Quote(part))
		case option.OfRuns(part) || isLaunchName(strings.Split(part, "."), launchNames):
			b.WriteString(placeholder.Of(part))
		default:
			return "", false
		}
	}
	return b.String(), len(parts)%2 == 1
}

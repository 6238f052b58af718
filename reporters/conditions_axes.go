package reporters

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// flowToken is a value in a structure on one line, or what is between two.
var flowToken = lazyregexp.New(`[^ ,:"{}\[\]]+|[ ,:"{}\[\]]+`)

// nameAxes replaces structured options of a run's cases, such as the command lines of roles, by one text if they differ
// in values of axes alone: "[bench, 4096]" and "[bench, 65536]" become "[bench, ${axis.size}]".
func nameAxes(cases []*results.Case, words [][]string) {
	if len(cases) < 2 {
		return
	}
	kind, known := workload.Lookup(cases[0].Workload)
	if !known {
		return
	}
	options := make([]map[string]any, len(cases))
	for i, c := range cases {
		options[i] = c.ResolvedOptions()
	}
	for _, o := range kind.Options {
		if o.Type != option.Structure {
			continue
		}
		flows, at := make([]string, len(cases)), make([]int, len(cases))
		shown := true
		for i := range cases {
			flow, is := o.Flow(valueText(options[i][o.Name]))
			flows[i], at[i] = flow, slices.Index(words[i], plain(o.Name+"="+shortened(flow)))
			shown = shown && is && at[i] >= 0
		}
		if !shown {
			continue
		}
		if text := byNames(cases, flows); text != "" {
			for i := range cases {
				words[i][at[i]] = plain(o.Name + "=" + shortened(text))
			}
		}
	}
}

// byNames returns the one text that the texts of all cases are, with names of axes in place of their values; "" if they
// differ in other values, or not at all.
func byNames(cases []*results.Case, texts []string) string {
	tokens := make([][]string, len(texts))
	for i, text := range texts {
		tokens[i] = flowToken().FindAllString(text, -1)
		if len(tokens[i]) != len(tokens[0]) {
			return ""
		}
	}
	var b strings.Builder
	differ := false
	for k, token := range tokens[0] {
		if slices.ContainsFunc(tokens, func(other []string) bool { return other[k] != token }) {
			differ = true
			if token = axisWith(cases, tokens, k); token == "" {
				return ""
			}
		}
		b.WriteString(token)
	}
	if !differ {
		return ""
	}
	return b.String()
}

// axisWith names the axis that has the tokens at k as its values; "": none.
func axisWith(cases []*results.Case, tokens [][]string, k int) string {
	for _, axis := range axes(cases) {
		is := true
		for i, c := range cases {
			is = is && tokens[i][k] == valueText(c.Axes[axis])
		}
		if is {
			return "${axis." + axis + "}"
		}
	}
	return ""
}

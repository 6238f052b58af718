package reporters

import (
	"strings"

	"github.com/weir-bench/weir/internal/lazyregexp"
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
	for _, o := range kind.Options {
		flows := make([]string, len(cases))
		at := make([]int, len(cases))
		for i, c := range cases {
			flow, is := o.Flow(valueText(c.ResolvedOptions()[o.Name]))
			at[i] = indexOf(words[i], plain(o.Name+"="+shortened(flow)))
			if !is || at[i] < 0 {
				flows = nil
				break
			}
			flows[i] = flow
		}
		if text := withAxes(cases, flows); text != "" {
			for i := range cases {
				words[i][at[i]] = plain(o.Name + "=" + shortened(text))
			}
		}
	}
}

func indexOf(words []string, word string) int {
	for i, w := range words {
		if w == word {
			return i
		}
	}
	return -1
}

// withAxes returns the text that the texts of all cases are, with names of axes in place of values; "" if they differ
// in other values, or not at all.
func withAxes(cases []*results.Case, texts []string) string {
	if len(texts) < 2 {
		return ""
	}
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
		same := true
		for _, other := range tokens {
			same = same && other[k] == token
		}
		if !same {
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

// axisWith names the axis of which the token at k is the value in each case; "": none.
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

package reporters

import (
	"maps"
	"slices"

	"weir/results"
	"weir/workload"
)

// optionWords are the options of a case that are not the workload's defaults, as name=value, by name.
func optionWords(c *results.Case, withAxes bool) (words []string) {
	kind, known := workload.Lookup(c.Workload)
	options := c.Settled()
	for _, name := range slices.Sorted(maps.Keys(options)) {
		_, axis := c.Axes[name]
		text := valueText(options[name])
		word := optionWord(text)
		if known {
			o, ok := kind.Option(name)
			if ok && o.Default != nil && valueText(o.Default) == text {
				continue
			}
			if flow, is := o.Flow(text); ok && is {
				word = shortened(flow)
			}
			if ok && o.Type == workload.Data && text != "" {
				word = o.Show(text) // the content of a file tells nobody anything
			}
		}
		if name != "fabric" && (withAxes || !axis) {
			words = append(words, plain(name+"="+word))
		}
	}
	return words
}

// inCommon are the words that all of several lists have, in their order; none of a single list, whose words
// stand for themselves.
func inCommon(lists [][]string) (common []string) {
	if len(lists) < 2 {
		return nil
	}
	for _, word := range lists[0] {
		lacks := func(list []string) bool { return !slices.Contains(list, word) }
		if !slices.ContainsFunc(lists[1:], lacks) {
			common = append(common, word)
		}
	}
	return common
}

// less are the words of a list that another one does not have.
func less(words, without []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(without, w) })
}

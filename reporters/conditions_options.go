package reporters

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

// longestStructure is how long a structured option may be below a table; the page and the document have longer ones.
const longestStructure = 60

// optionWords lists options that differ from the workload's defaults, as name=value, by name. Those that vary between
// the cases of a run are listed also where they have the default. Below a table it leaves out what the axes say, and
// the content of long structures.
func optionWords(c *results.Case, belowTable bool, vary map[string]bool) (words []string) {
	kind, known := workload.Lookup(c.Workload)
	rows, _ := workload.As[workload.RowSplitter](c.Workload)
	options := c.ResolvedOptions()
	for _, name := range slices.Sorted(maps.Keys(options)) {
		_, axis := c.Axes[name]
		axis = axis || rows != nil && name == rows.Row()
		text := option.Text(options[name])
		word := optionWord(text)
		if known {
			o, ok := kind.Option(name)
			usual := ok && o.Default != nil && option.Text(o.Default) == text
			if usual && !vary[name] {
				continue
			}
			if ok && o.Type == option.Time {
				word = shortTime(text)
			}
			if flow, is := o.Flow(text); ok && is {
				word = shortened(flow)
				if belowTable && len(flow) > longestStructure {
					word = flow[:1] + "…" + flow[len(flow)-1:]
				}
			}
			if ok && o.Type == option.Data && text != "" {
				word = o.Show(text) // a digest, not the content of a file
			}
			if usual && (text == "" || o.Type == option.Structure) { // it says nothing
				word = "default"
			}
		}
		if name != "fabric" && !(belowTable && axis) {
			words = append(words, plain(name+"="+word))
		}
	}
	return words
}

// variedOptions returns the options that differ between cases which have them.
func variedOptions(cases []*results.Case) map[string]bool {
	first, vary := map[string]string{}, map[string]bool{}
	for _, c := range cases {
		for name, v := range c.ResolvedOptions() {
			text := option.Text(v)
			if had, known := first[name]; !known {
				first[name] = text
			} else if had != text {
				vary[name] = true
			}
		}
	}
	return vary
}

// shortTime is a time with two digits, if its text is a number of nanoseconds that nobody reads.
func shortTime(text string) string {
	d, err := quantity.ParseTime(text)
	if err != nil || !strings.HasSuffix(text, "ns") || d < time.Millisecond {
		return text
	}
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// commonWords returns the words common to all of several lists, in order; none for a single list.
func commonWords(lists [][]string) (common []string) {
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

// withoutWords returns the words of a list that another one lacks.
func withoutWords(words, without []string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(without, w) })
}

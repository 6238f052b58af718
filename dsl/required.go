package dsl

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/suggest"
)

// required reports missing options that have no default.
func (sr *settingReader) required(entries []entry) {
	if sr.run.lacksOptions {
		return // its wrong key is reported
	}
	names := optionNames(sr.run.Workload)
	for _, o := range sr.run.Workload.Options {
		if !o.Required {
			continue
		}
		given := sr.run.axis(o.Name) != nil
		for _, e := range entries {
			_, known := sr.run.Workload.Option(e.name)
			// A misspelt option has been reported, with this one as hint.
			given = given || e.name == o.Name || !known && suggest.Nearest(e.name, names) == o.Name
		}
		if !given && sr.misspelt(o.Name, names) {
			continue
		}
		if !given {
			sr.error(
				sr.run.Range,
				"Missing option",
				fmt.Sprintf("Run %q has no %s (%s), which workload %s requires.",
					sr.run.Name, o.Name, firstSentence(o.Doc), sr.run.Workload.Name),
				fmt.Sprintf("Add %s to its options, or sweep it.", o.Name),
			)
		}
	}
}

// misspelt reports whether an axis most likely means a required option. An axis without effect is reported as such,
// one that the run uses as axis.NAME here.
func (sr *settingReader) misspelt(option string, names []string) bool {
	i := slices.IndexFunc(sr.run.Axes, func(a *Axis) bool {
		_, known := sr.run.Workload.Option(a.Name)
		return !known && suggest.Nearest(a.Name, names) == option
	})
	if i < 0 {
		return false
	}
	a := sr.run.Axes[i]
	if sr.used[a.Name] || len(sr.run.Values) > 0 {
		sr.used[a.Name] = true
		sr.error(a.Range, "Unknown option",
			fmt.Sprintf("Workload %s has no option %q, and requires %s, which nothing sets.", sr.run.Workload.Name,
				a.Name, option),
			fmt.Sprintf("Did you mean %q? If %s is meant to be another axis, add %s to the options.", option, a.Name,
				option))
	}
	return true
}

package reporters

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// services says of each service how often it was started, how long it took to be ready, and why it failed.
func services(doc *results.Document) []string {
	var starts ordered.Groups[string, results.Service]
	for _, s := range doc.Services {
		starts.Add(s.Name, s)
	}
	var out []string
	for name, all := range starts.All() {
		var ready []float64
		failed, why := 0, ""
		for _, s := range all {
			if s.Ready > 0 {
				ready = append(ready, s.Ready)
			}
			if s.Failure != nil {
				failed++
				why = sentenceOf(s.Failure.Cause)
			}
		}
		text := fmt.Sprintf("%s on %s: %s", name, all[0].Node, plural(len(all), "start"))
		if fresh := all[0].Fresh; fresh != "session" {
			text += ", fresh for each " + fresh
		}
		if binding := all[0].Binding; binding != nil {
			text += ", on " + binding.Details()
		}
		if len(ready) > 0 {
			slices.Sort(ready)
			text += "; ready after " + quantity.FormatTime(ready[0])
			if last := ready[len(ready)-1]; last > ready[0] {
				text += " to " + quantity.FormatTime(last)
			}
		}
		if failed > 0 {
			text += fmt.Sprintf("; %d failed: %s", failed, why)
		}
		out = append(out, text)
	}
	return out
}

package reporters

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/ordered"
	"github.com/weir-bench/weir/results"
)

// workingSet is the largest of a case's launches; nil: unknown.
func workingSet(c *results.Case) *results.WorkingSet {
	var most *results.WorkingSet
	for _, l := range c.Succeeded() {
		if w := l.WorkingSet; w != nil && (most == nil || w.Node > most.Node) {
			most = w
		}
	}
	return most
}

// workingSetCell is the working set per node, and whether it fits a cache.
func workingSetCell(c *results.Case) string {
	w := workingSet(c)
	if w == nil {
		return "-"
	}
	return sentence(", ", bytesText(w.Node), w.State())
}

// workingSets says for each run which cases fit a cache.
func workingSets(doc *results.Document) []string {
	type kind struct {
		run   string
		cache int64
		state string
	}
	var of ordered.Groups[kind, int64]
	for _, c := range doc.Cases {
		if w := workingSet(c); w != nil {
			of.Add(kind{c.Run, w.Cache, w.State()}, w.Node)
		}
	}
	var out []string
	for k, sizes := range of.All() {
		least, most := slices.Min(sizes), slices.Max(sizes)
		size := bytesText(least)
		if least < most {
			size += " to " + bytesText(most)
		}
		state := "of unknown size"
		if k.state != "" {
			state = bytesText(k.cache) + ": " + k.state
		}
		out = append(out, fmt.Sprintf("%s, %s: %s working set on a node, last-level cache %s", plain(k.run),
			plural(len(sizes), "case"), size, state))
	}
	return out
}

// cachesText is the cache sizes of a node; "": unknown.
func cachesText(c *results.Cache) string {
	if c == nil {
		return ""
	}
	var l2, l3 string
	if c.L2 > 0 {
		l2 = "L2 cache " + bytesText(c.L2)
	}
	if c.L3 > 0 {
		l3 = "L3 cache " + bytesText(c.L3)
	}
	return sentence(", ", l2, l3)
}

// Selections by tags of runs.

package planner

import (
	"fmt"
	"slices"

	"github.com/weir-bench/weir/internal/suggest"
)

// ErrByTags is the ErrNothing of a plan if tags alone leave nothing.
var ErrByTags = fmt.Errorf("%w by tags", ErrNothing)

// byTags reports whether all selectors are tags.
func byTags(selectors []Selector) bool {
	return len(selectors) > 0 && !slices.ContainsFunc(selectors, func(s Selector) bool { return s.tag == "" })
}

// tagsOf returns the tags of a run.
func (p *Plan) tagsOf(run string) []string {
	if r := p.run(run); r != nil {
		return r.Tags
	}
	return nil // a plan of an earlier version
}

// CheckTags returns an error if a selector has a tag that no run of the plans has.
func CheckTags(selectors []Selector, plans []*Plan) error {
	if !slices.ContainsFunc(selectors, func(s Selector) bool { return s.tag != "" }) {
		return nil
	}
	var tags []string
	for _, p := range plans {
		for _, run := range p.runs() {
			tags = append(tags, p.tagsOf(run)...)
		}
	}
	slices.Sort(tags)
	tags = slices.Compact(tags)
	for _, s := range selectors {
		if s.tag != "" && !slices.Contains(tags, s.tag) {
			return fmt.Errorf("%w: no run has the tag %q. %s", ErrNothing, s.tag,
				suggest.Sentence(s.tag, tags, "tags"))
		}
	}
	return nil
}

package causes

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/docs"
	"github.com/weir-bench/weir/test/golden"
)

// docs/causes.md is made of the rules.
func TestPageOfCauses(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Likely causes of a slow path

Where an assertion about a path fails, reports list likely causes below it. A cause is listed only if
the session has evidence for it; the report says what was seen, how to check it, and what to do.
Causes that cost most of the bandwidth come first, then those that cost a part of it, then those
that cost some percent. A variable of a provider that was not chosen is no cause. This page is made
of the files in fabric/causes/rules, in that order.

| cause | how to check | what to do |
|---|---|---|
`)
	all := slices.Clone(All())
	slices.SortStableFunc(all, func(a, b Cause) int { return a.Effect - b.Effect })
	for _, c := range all {
		title := c.Title
		if c.Memory != "" {
			title += " (" + c.Memory + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", title, c.Check, c.Remedy)
	}
	golden.Equal(t, "../../docs/causes.md", []byte(docs.Fill(b.String(), 100)))
}

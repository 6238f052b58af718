package causes

import (
	"fmt"
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
This page is made of the files in fabric/causes/rules.

| cause | how to check | what to do |
|---|---|---|
`)
	for _, c := range All() {
		title := c.Title
		if c.Memory != "" {
			title += " (" + c.Memory + ")"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", title, c.Check, c.Remedy)
	}
	golden.Equal(t, "../../docs/causes.md", []byte(docs.Fill(b.String(), 100)))
}

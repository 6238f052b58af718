package format_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl/format"
)

// A note with commas stays one text.
func TestNotesWithCommasAreQuoted(t *testing.T) {
	const src = "scenario: s\nvariants:\n  a: {note: old, it's slow,  2 links}\n  b: {n: 1, note: with, commas}\n" +
		"  c: {note: \"quoted, already\"}\nruns: {p: {workload: transfer}}\n"
	formatted, diags := format.Format("s.yaml", []byte(src))
	converted, more := format.Convert("s.yaml", []byte(src), format.HCL)
	if diags.HasErrors() || more.HasErrors() {
		t.Fatal(diags, more)
	}
	for _, note := range []string{"old, it's slow, 2 links", "with, commas", "quoted, already"} {
		for _, out := range [][]byte{formatted, converted} {
			text := strings.ReplaceAll(string(out), "''", "'")
			if !strings.Contains(text, `"`+note+`"`) && !strings.Contains(text, "'"+note+"'") {
				t.Errorf("no %q in\n%s", note, out)
			}
		}
	}
}

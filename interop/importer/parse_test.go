package importer_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/interop/importer"
)

// A comment ends a command as in a shell, also one with a backslash at its end. What its author took for flags is told.
func TestCommentsWithinCommands(t *testing.T) {
	const u = "ucx_perftest h -t tag_bw "
	for _, c := range []struct{ script, want, told string }{
		{u + "-s 8 \\\n#  -n 5 \\\n  -n 7", "8", "line 3 begins with -n: "},
		{u + "-s 8 # all \\\n  -n 7", "8", "line 2 begins with -n: "},
		{u + "-s 8 # all \\\r\n  -n 7", "8", "line 2 begins with -n: "},
		{u + "-s 8 \\\n#  -n 5 \\\n#  -n 6 \\\n  -n 7", "8", "line 4 begins with -n: "},
		{u + "-s 8\n  -n 7", "8", "line 2 begins with -n: "},
		{"x=$(echo # a \\\n)\n" + u + "-s 8", "8", ""},
		{"# a \\\n# b \\\n" + u + "-s 8 # c \\\n" + u + "-s 16 \\\n-n 5", "8 16", ""},
		{"if x; then # a \\\n" + u + "-s 8; fi", "8", ""},
		{u + "-s '8' -n '#7\\\n'", `-n: "#7\\\n"`, ""},
		{u + "-s 8 \\\n -n 1", "8", ""},
	} {
		if got := sizesOf(t, c.script); got != c.want && !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.script, got, c.want)
		}
		made, _ := importer.Script("x.sh", c.script+"\n", importer.Options{Memory: "dram"})
		if strings.Contains(string(made.Scenario), "n: 7") || strings.Contains(string(made.Scenario), "iterations: 7") {
			t.Errorf("%s: a flag behind a comment counts:\n%s", c.script, made.Scenario)
		}
		told := ""
		for _, n := range made.Notes {
			if strings.Contains(n.Text, " begins with ") {
				told = n.Text
			}
		}
		if !strings.HasPrefix(told, c.told) || (c.told == "") != (told == "") {
			t.Errorf("%s: told %q, want %q", c.script, told, c.told)
		}
	}
}

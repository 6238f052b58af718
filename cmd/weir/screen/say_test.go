package screen

import (
	"strings"
	"testing"
)

// The rest of a long message is indented, its keys are broken, and a column without room is on lines of its own.
func TestReflowedLines(t *testing.T) {
	for _, c := range []struct {
		line string
		hang int
		want string
	}{
		{"a message of words", 4, "a message of\n    words"},
		{"run[a=1,b=2,c=3,d=4,e=5]", 4, "run[a=1,b=2,c=3,\n    d=4,e=5]"},
		{"name           a text here", 0, "name\n        a text\n        here"},
		{"               a text here", 0, "        a text\n        here"},
	} {
		got := reflowed(c.line, 16, c.hang)
		if got != c.want {
			t.Errorf("%q became\n%s\nwant\n%s", c.line, got, c.want)
		}
	}
	var b strings.Builder
	if Say(&b, strings.Repeat("word ", 99)); strings.Count(b.String(), "\n") != 1 {
		t.Errorf("not on a terminal it is %q", b.String())
	}
}

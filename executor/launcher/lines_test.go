package launcher

import (
	"fmt"
	"strings"
	"testing"
)

func TestLinesKeepsTheLast(t *testing.T) {
	l := &Lines{}
	for i := range maxLines + 5 {
		fmt.Fprintf(l, "line %d\r\n", i)
	}
	fmt.Fprint(l, "a \x1b[31mred", " end\x07")
	all := l.All()
	if len(all) != maxLines+2 || all[0] != "… 5 lines before" || all[1] != "line 5" || all[maxLines] != "line 204" ||
		l.Last() != "a \uFFFD[31mred end\uFFFD" {
		t.Errorf("%d lines: %q … %q", len(all), all[:2], all[len(all)-2:])
	}
	long := &Lines{}
	fmt.Fprint(long, strings.Repeat("x", 3*maxLine), "\n", "\n", "  \n")
	if got := long.All(); len(got) != 3 || len(got[0]) != maxLine || long.Last() != got[0] {
		t.Errorf("%d lines, the first of %d bytes", len(got), len(got[0]))
	}
}

func TestRequestCheck(t *testing.T) {
	for id, good := range map[string]bool{
		"s-1.2_x": true, "": false, "a b": false, "-a": false, "a/b": false, "é": false, "$(x)": false,
		strings.Repeat("a", 129): false,
	} {
		if err := CheckSession(id); (err == nil) != good {
			t.Errorf("%q: %v", id, err)
		}
	}
	for name, good := range map[string]bool{
		"A": true, "_a1": true, "": false, "1A": false, "A=B": false, "A B": false,
	} {
		if variable(name) != good {
			t.Errorf("variable %q", name)
		}
	}
}

package wrap

import (
	"slices"
	"strings"
	"testing"
)

func TestWord(t *testing.T) {
	key := "a-run[batch=1,block_size=1MiB,op=write]"
	for _, c := range []struct {
		word        string
		first, rest int
		want        []string
	}{
		{"short", 5, 5, []string{"short"}},
		{"longer", 5, 6, []string{"", "longer"}},
		{"/a/long/path", 5, 5, []string{"", "/a/long/path"}},
		{key, 40, 40, []string{key}},
		{key, 20, 20, []string{"a-run[batch=1,", "block_size=1MiB,", "op=write]"}},
		{key, 2, 20, []string{"", "a-run[batch=1,", "block_size=1MiB,", "op=write]"}},
		{"µ,µ,µ", 4, 4, []string{"µ,µ,", "µ"}},
		{"ends-in-one,", 3, 3, []string{"ends-in-one,"}},
	} {
		got := Word(c.word, c.first, c.rest)
		if strings.Join(got, "") != c.word {
			t.Errorf("%q became %q", c.word, got)
		}
		if !slices.Equal(got, c.want) && !(c.first == c.rest && slices.Equal(got, c.want[1:])) {
			t.Errorf("%q in %d and %d: %q, want %q", c.word, c.first, c.rest, got, c.want)
		}
	}
}

package printable

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile has the sequences with which names and reasons can attack a terminal.
const hostile = "a\x1b[2J\x1b[1;31mROOT SAYS\x07\r\nweir agent: session fake begins\u009b2J\u202eback\u2028\x7f"

func TestALineStaysOne(t *testing.T) {
	got := Line(hostile)
	if strings.ContainsAny(got, "\x1b\x07\r\n\u009b\u202e\u2028\x7f") || !strings.HasPrefix(got, "a\uFFFD[2J") {
		t.Errorf("%q", got)
	}
	for _, same := range []string{"", "plain", "tab\there", "größe 日本 ½", "\uFFFD"} {
		if got := Line(same); got != same {
			t.Errorf("%q became %q", same, got)
		}
	}
}

func TestNoLineOfATextBeginsAsWeirsDo(t *testing.T) {
	got := Text("first\r\nweir: all is well\n\nlast\x1b[A")
	if got != "first\n  | weir: all is well\n  | \n  | last\uFFFD[A" {
		t.Errorf("%q", got)
	}
}

// written returns the output for a text in pieces of a size.
func written(t testing.TB, styles bool, text string, size int) string {
	t.Helper()
	var to bytes.Buffer
	w := &Writer{To: &to, Styles: styles}
	for rest := text; len(rest) > 0; {
		n := min(size, len(rest))
		if k, err := w.Write([]byte(rest[:n])); k != n || err != nil {
			t.Fatal(k, err)
		}
		rest = rest[n:]
	}
	return to.String()
}

func TestAWriterReplacesWhatDoesSomething(t *testing.T) {
	for size := 1; size < 8; size++ {
		got := written(t, false, hostile, size)
		if strings.ContainsAny(got, "\x1b\x07\r\u009b\u202e\u2028\x7f") || strings.Count(got, "\n") != 1 {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
	const text = "größe\t日本\n\n½"
	for size := 1; size < 8; size++ {
		if got := written(t, false, text, size); got != text {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
}

func TestColoursArePassedOnWhereTheyAreWanted(t *testing.T) {
	const own = "\x1b[31mfailed\x1b[0m\n\x1b[3A\rnext\x1b[K\n\x1b[K\n\x1b[1A\r"
	if got := written(t, true, own, len(own)); got != own {
		t.Errorf("%q", got)
	}
	if got := written(t, false, own, len(own)); strings.Contains(got, "\x1b") {
		t.Errorf("%q", got)
	}
	for _, other := range []string{
		"\x1b[2J", "\x1b]0;title\x07", "\x1b[6n", "\x1b[?1049h", "\x1bc", "\x1bP", "\x1b[1;1H", "\x1b[3A",
		"\x1b[J", "\x1b[2K", "\x1b[3B\r",
	} {
		if got := written(t, true, other, len(other)); strings.Contains(got, "\x1b") {
			t.Errorf("%q became %q", other, got)
		}
	}
}

// Commands of CI runners are quoted at the start of a line and broken up within a line, for all
// sizes of pieces, unless they are weir's own.
func TestAWriterPassesOnNoCommandsOfOthers(t *testing.T) {
	const text = "::a::b\n  \u00a0::c::\n##[error]x ##vso[task.a]b ###[x\nfine :: ## [x] #[y\n\t:z\n"
	const want = "| ::a::b\n  \u00a0| ::c::\n## [error]x ##vso [task.a]b ### [x\nfine :: ## [x] #[y\n\t| :z\n"
	for size := 1; size < 9; size++ {
		if got := written(t, false, text, size); got != want {
			t.Errorf("in pieces of %d: %q", size, got)
		}
	}
	var to bytes.Buffer
	if _, err := (&Writer{To: &to, Commands: true}).Write([]byte(text)); err != nil || to.String() != text {
		t.Errorf("%q, %v", &to, err)
	}
	if got := Text("a\n::b::\n##[c]"); got != "a\n  | ::b::\n  | ## [c]" {
		t.Errorf("%q", got)
	}
}

// JSON keeps the texts, but breaks up commands.
func TestJSONHasNoCommands(t *testing.T) {
	in := []byte(`{"##[error]a":"###[b ##vso[c \\##[d #"}`)
	var to bytes.Buffer
	w := &JSON{To: &to}
	for _, c := range in {
		if _, err := w.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
	}
	var want, got map[string]string
	if err := errors.Join(json.Unmarshal(in, &want), json.Unmarshal(to.Bytes(), &got)); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(want, got) || strings.Contains(to.String(), "##") {
		t.Errorf("%s", &to)
	}
}

func FuzzWriter(f *testing.F) {
	f.Add(hostile, 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		got := written(t, false, text, max(size, 1))
		if strings.ContainsAny(got, "\x1b\r\x00\x7f") || !utf8.ValidString(got) {
			t.Errorf("%q became %q", text, got)
		}
		if line := Line(text); strings.Contains(line, "\n") || line != Line(line) {
			t.Errorf("%q became %q", text, line)
		}
	})
}

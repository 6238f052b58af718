package logwatch

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func watch(t *testing.T, s Spec) *Watch {
	t.Helper()
	w, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestPiecesMakeLines writes lines in pieces of all sizes.
func TestPiecesMakeLines(t *testing.T) {
	text := "one 1\r\nno\ntwo 2\n[pod/a-b/c] one 3\n2026-01-02T03:04:05.000001Z one 4\none 5"
	for size := 1; size < len(text); size++ {
		w := watch(t, Spec{Stamped: true, Expressions: []Expression{
			{Text: `^one \d$`}, {Text: "one", Pod: "^a-"}, {Text: "three"}, {Text: "5$"}}})
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			w.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		at, _ := time.Parse(StampLayout, "2026-01-02T03:04:05.000001Z")
		all := w.Matches()
		if m := all[0]; m.Count != 4 || m.Text != "one 5" || !m.First.Equal(at) || !m.Last.Equal(at) {
			t.Fatalf("pieces of %d: %+v", size, m)
		}
		if m := all[1]; m.Count != 1 || m.Text != "one 3" || all[2].Ever || !all[3].Ever {
			t.Fatalf("pieces of %d: %+v", size, all)
		}
		if w.Ever(3) {
			t.Error("a line that has not ended is reported as one")
		}
		w.Begin()
		if m := w.Matches()[1]; m.Count != 0 || !m.Ever || m.Text != "" {
			t.Errorf("anew: %+v", m)
		}
	}
}

// TestMemoryIsBounded writes a very long line.
func TestMemoryIsBounded(t *testing.T) {
	w := watch(t, Spec{Expressions: []Expression{{Text: "x"}, {Text: "end"}}})
	for range 64 {
		w.Write(bytes.Repeat([]byte("x"), 1<<20))
	}
	if cap(w.part) > 2*MaxLine {
		t.Errorf("%d bytes are kept", cap(w.part))
	}
	w.Write([]byte("\nend\n"))
	if all := w.Matches(); all[0].Count != 1 || len(all[0].Text) != MaxLine || all[1].Text != "end" {
		t.Errorf("%d, %d bytes, %q", all[0].Count, len(all[0].Text), all[1].Text)
	}
}

func TestMatchesOfOthersAreChecked(t *testing.T) {
	s := Spec{Expressions: []Expression{{Text: "x"}}}
	for _, bad := range [][]Match{nil, {{Count: -1}}, {{Text: strings.Repeat("x", MaxLine+1)}}} {
		if s.Check(bad) == nil {
			t.Errorf("%d matches are taken", len(bad))
		}
	}
	if _, err := New(Spec{Expressions: []Expression{{Text: "("}}}); err == nil {
		t.Error("( is an expression")
	}
}

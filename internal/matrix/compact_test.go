package matrix

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestCompactTextsReadBack(t *testing.T) {
	m, err := New(4, []Cell{{3, 0, 7}, {0, 1, 1 << 20}, {0, 2, 5}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := m.Compact(), "4: 0>1=1048576,2=5 3>0=7"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		m := matrices(t)
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var read Matrix
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if read.Compact() != m.Compact() || read.Ranks() != m.Ranks() || read.Total() != m.Total() {
			t.Fatalf("%s reads as %s", text, read.Compact())
		}
	})
}

func TestCompactTextsThatAreNone(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "begins with its number of ranks",
		"x: 0>1=5":                         "begins with its number of ranks",
		"2 0>1=5":                          "begins with its number of ranks",
		"2: 1=5":                           "is not a sender",
		"2: 0>":                            "is not a receiver",
		"2: 0>1":                           "is not a receiver",
		"2: 0>1=5,":                        "is not a receiver",
		"2: 0>1=5M":                        "is not a receiver",
		"2: 0>2=5":                         "the ranks are 0 to 1",
		"2: 0>1=0":                         "a cell must be above 0",
		"2: 0>1=5 0>1=6":                   "two cells",
		"0:":                               "of 0 ranks",
		"2: 0>1=9 1>0=9223372036854775807": "2^63",
	} {
		if _, err := ParseCompact(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func FuzzParseCompact(f *testing.F) {
	f.Add("4: 0>1=1048576,2=5 3>0=7")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseCompact(text)
		if err != nil {
			return
		}
		again, err := ParseCompact(m.Compact())
		if err != nil || again.Compact() != m.Compact() {
			t.Errorf("%q reads as %q, then %v", text, m.Compact(), err)
		}
	})
}

// BenchmarkCompact1024 formats a million different cells.
func BenchmarkCompact1024(b *testing.B) {
	var cells []Cell
	for from := range 1024 {
		for to := range 1024 {
			cells = append(cells, Cell{from, to, 1 + int64(from*to)<<10})
		}
	}
	m, err := New(1024, cells)
	if err != nil {
		b.Fatal(err)
	}
	text := m.Compact()
	for name, f := range map[string]func() error{
		"write": func() error { m.Compact(); return nil },
		"read":  func() error { _, err := ParseCompact(text); return err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package option_test

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload/traffic"
)

func TestParseMatrix(t *testing.T) {
	for _, c := range []struct{ text, want, wrong string }{
		{"2: 0>1=5", "2: 0>1=5", ""},
		{" 3: 2>0=7,1=1 0>1=5 ", "3: 0>1=5 2>0=7,1=1", ""},
		{"0 4K\n1 0", "2: 0>1=4096 1>0=1", ""},
		{"\n  0 1.5K # to 1\n\n  2m 0\n", "2: 0>1=1536 1>0=2097152", ""},
		{"", "", "line 1, column 1: The file has no cells"},
		{"0 1\n5x 0", "", `line 2, column 1: "5x" ends with "x". The suffixes are K, M and G`},
		{"0 1\n1 0 0", "", "line 2, column 5: Row 2 has more than the 2 cells"},
		{"0 -1\n1 0", "", "line 1, column 3: \"-1\" is negative"},
		{"0 9223372036854775807\n1 0", "", "line 2, column 1: With this cell the cells add up to 2^63 bytes or more"},
		{"0 0\n0 0", "", "all cells are 0, so nothing would be sent"},
		{"7", "", "traffic between 1 ranks: use 2 to 1024"},
		{"1025: 0>1=1", "", "traffic between 1025 ranks"},
		{"0 1\n0 8K", "2: 0>1=1 1>1=8192", ""},
		{"2: 1>1=8", "", "all cells between different ranks are 0"},
		{"2: 0>1=1099511627777", "", "a cell has 1099511627777B, more than the limit of 1TiB"},
		{"2: 0>2=5", "", "the ranks are 0 to 1"},
	} {
		o, _ := traffic.Kind.Option("matrix")
		got, err := o.Parse(c.text)
		switch {
		case c.wrong == "" && (err != nil || got != c.want):
			t.Errorf("%q = %#v, %v, want %q", c.text, got, err, c.want)
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%q: error %v, want %q", c.text, err, c.wrong)
		}
	}
}

func TestParseCell(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "4096": 4096, "1.5K": 1536, "64m": 64 << 20, "2G": 2 << 30, "5B": 5, "4KiB": 4096, "4 MiB": 4 << 20,
		"1kB": 1000, "1e3": 1000,
	} {
		if got, err := option.ParseCell(text); err != nil || got != want {
			t.Errorf("%q = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "x", "-1", "-4KiB", "5T", "1 2", "5us"} {
		if got, err := option.ParseCell(text); err == nil {
			t.Errorf("%q was read as %d", text, got)
		}
	}
}

func FuzzParseMatrix(f *testing.F) {
	for _, text := range []string{"2: 0>1=5", "0 4K\n1 0", "0 1\n# c\n1 0", "1: 0>0=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		m, err := option.ParseMatrix(text)
		if err != nil {
			return
		}
		if n, ok := option.Ranks(m.Compact()); !ok || int(n) != m.Ranks() {
			t.Fatalf("%q has %d ranks, and its text says %d", text, m.Ranks(), n)
		}
		if again, err := option.ParseMatrix(m.Compact()); err != nil || again.Compact() != m.Compact() {
			t.Fatalf("%q reads as %q, then %v", text, m.Compact(), err)
		}
	})
}

package quantity

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
		dim  Dimension
	}{
		{"64MiB", 64 << 20, SizeDim},
		{"46.48 GB/s", 46.48e9, RateDim},
		{"1 GiB/s", 1 << 30, RateDim},
		{"400Gb/s", 50e9, RateDim},
		{"400Gbps", 50e9, RateDim},
		{"520us", 520e-6, TimeDim},
		{"520µs", 520e-6, TimeDim},
		{"520μs", 520e-6, TimeDim},
		{"10%", 0.1, Number},
		{"1e-3", 1e-3, Number},
		{"1e3 kB", 1e6, SizeDim},
		{"-3", -3, Number},
		{"1_000", 1000, Number},
		{"2 1/s", 2, Frequency}, {"0.5/s", 0.5, Frequency},
		{"5EB", 0, Number}, // not a unit, and the E is not an exponent
		{"1e400", 0, Number},
		{"1e300 TiB", 0, SizeDim}, // finite until multiplied by its unit
		{"-1e308 h", 0, TimeDim},
	} {
		q, err := Parse(c.text)
		if c.want == 0 {
			if err == nil {
				t.Errorf("Parse(%q) = %v, want an error", c.text, q)
			}
			continue
		}
		if err != nil {
			t.Errorf("Parse(%q): %v", c.text, err)
			continue
		}
		if math.Abs(q.Value/c.want-1) > 1e-12 || q.Dim != c.dim {
			t.Errorf("Parse(%q) = %v %v, want %v %v", c.text, q.Value, q.Dim, c.want, c.dim)
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "4096": 4096, "4KiB": 4096, "1.5GiB": 3 << 29, "64 MB": 64e6, "8Kb": 1000,
		"9223372036854775807": math.MaxInt64, "9007199270000001B": 9007199270000001,
		"1.001 kB": 1001, "8.2 GB": 8.2e9, "1.005 kB": 1005, "1.000001 MB": 1000001,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "x", "-1", "1.5B", "1.0001kB", "0.3KiB", "1.0000000000001TB", "4K", "10%", "5s", "1e30",
		"9223372036854775808", "1b", "NaN", "Inf",
	} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", text, got)
		}
	}
}

func TestSizeString(t *testing.T) {
	for n, want := range map[Size]string{
		0: "0B", 1: "1B", 1000: "1kB", 1024: "1KiB", 4096: "4KiB", 64 << 20: "64MiB", 1536: "1536B", 67e6: "67MB",
		1 << 40: "1TiB",
	} {
		if got := n.String(); got != want {
			t.Errorf("Size(%d) = %q, want %q", int64(n), got, want)
		}
	}
}

func TestParseTime(t *testing.T) {
	if d, err := ParseTime("1.5ms"); err != nil || d != 1500*time.Microsecond {
		t.Errorf("got %v, %v", d, err)
	}
	for _, text := range []string{"5", "5MiB", "1e300 h", "x"} {
		if d, err := ParseTime(text); err == nil {
			t.Errorf("ParseTime(%q) = %v, want an error", text, d)
		}
	}
}

func TestRoundGivesTheDecimalsOfThePerson(t *testing.T) {
	q, _ := Parse("46.48 GB/s")
	q.Value *= 0.9
	if got, err := q.In("GB/s"); err != nil || got != 41.832 {
		t.Errorf("90 %% of 46.48 GB/s = %v, %v", got, err)
	}
	if _, err := q.In("s"); err == nil {
		t.Error("a rate in seconds was accepted")
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		v    float64
		unit string
		want string
	}{
		{0.00144, "s", "1.44 ms"}, {5.4e-8, "s", "54.0 ns"}, {46.48, "GB/s", "46.48 GB/s"}, {0.93, "", "0.9300"},
		{12345.6, "1/s", "12346 1/s"}, {0, "s", "0 ns"},
		{Unbounded, "s", "unbounded"}, {Unbounded / 12, "s", "unbounded"}, {1e30, "", "1e+30"},
		{1e300, "s", "1e+300 s"},
	} {
		if got := Format(c.v, c.unit); got != c.want {
			t.Errorf("Format(%v, %q) = %q, want %q", c.v, c.unit, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"64MiB", "46.48 GB/s", "1e", "e1", "+-1", "1e+", "%", "9e999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if q, err := Parse(s); err == nil && (math.IsNaN(q.Value) || math.IsInf(q.Value/1e30, 0)) {
			t.Errorf("Parse(%q) = %v", s, q.Value)
		}
		if n, err := ParseSize(s); err == nil {
			back, err := ParseSize(n.String())
			if err != nil || back != n {
				t.Errorf("ParseSize(%q) = %d, reads back as %d, %v", s, n, back, err)
			}
		}
	})
}

// Bits in small letters are refused where bytes may be meant.
func TestSmallBits(t *testing.T) {
	for _, text := range []string{"64kb", "1gb", "1mb"} {
		if _, err := ParseSize(text); err == nil || !strings.Contains(err.Error(), "(bytes)") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if v, err := ParseSize("64Kb"); err != nil || v != 8000 {
		t.Errorf("%v, %v", v, err)
	}
}

package matrix

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

func parse(t *testing.T, text string) *Matrix {
	t.Helper()
	m, err := Parse(strings.NewReader(text), "m.txt", 0)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return m
}

func TestTheDocumentedExample(t *testing.T) {
	m := parse(t, "0 0 1M 1M\n0 0 1M 1M\n0 0 0 5K\n0 0 0 5K\n")
	want := []Cell{{0, 2, 1 << 20}, {0, 3, 1 << 20}, {1, 2, 1 << 20}, {1, 3, 1 << 20}, {2, 3, 5 << 10}, {3, 3, 5 << 10}}
	if got := slices.Collect(m.Cells()); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
	if m.Ranks() != 4 || m.NonZero() != 6 || m.Total() != 4<<20+10<<10 || m.At(2, 3) != 5<<10 || m.At(3, 0) != 0 ||
		m.Largest() != 1<<20 {
		t.Errorf("%d ranks, %d cells, %d bytes", m.Ranks(), m.NonZero(), m.Total())
	}
	if !slices.Equal(m.Senders(), []int{0, 1, 2, 3}) || !slices.Equal(m.Receivers(), []int{2, 3}) ||
		!slices.Equal(m.Involved(), []int{0, 1, 2, 3}) {
		t.Errorf("senders %v, receivers %v", m.Senders(), m.Receivers())
	}
	if rank, bytes := m.Bottleneck(); rank != 3 || bytes != 2<<20+10<<10 {
		t.Errorf("bottleneck is rank %d with %d bytes", rank, bytes)
	}
}

func TestSizesAreReadAsCtPerftestReadsThem(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "00": 0, "-0": -1, "4096": 4096, "5K": 5120, "5k": 5120, "1M": 1 << 20, "2G": 2 << 30, "7B": 7, "7b": 7,
		"1.5K": 1536, ".5K": 512, "1.K": 1024,
		"1.46G": 1567663063, "984.38M": 1032197242, "1e6": 1e6, "1.000000000000000000e+06": 1e6, "+3": 3, "0.9": 0,
		"2.9":                 2,
		"9223372036854775807": math.MaxInt64, "9007199254740993": 9007199254740993, "8589934591G": 8589934591 << 30,
	} {
		got, err := ParseSize(text)
		if want < 0 {
			if err == nil {
				t.Errorf("%q was accepted as %d", text, got)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("%q = %d, %v, want %d", text, got, err, want)
		}
	}
}

func TestWrongMatricesAreRefusedWhereTheyAreWrong(t *testing.T) {
	for _, c := range []struct {
		text         string
		ranks        int
		line, column int
		marked       string
		summary      string
	}{
		{"0 1\n1 -5\n", 0, 2, 3, "-5", "Negative size"},
		{"0 1\n1 5T\n", 0, 2, 3, "5T", "Unknown suffix"},
		{"0 1KB\n1 0\n", 0, 1, 3, "1KB", "Unknown suffix"},
		{"0 1KiB\n1 0\n", 0, 1, 3, "1KiB", "Unknown suffix"},
		{"0 x\n1 0\n", 0, 1, 3, "x", "Not a size"},
		{"0 K\n1 0\n", 0, 1, 3, "K", "Not a size"},
		{"0 nan\n1 0\n", 0, 1, 3, "nan", "Not a size"},
		{"0 inf\n1 0\n", 0, 1, 3, "inf", "Not a size"},
		{"0 1,5K\n", 0, 1, 3, "1,5K", "Unknown suffix"},
		{"0 µ 1K7\n", 0, 1, 3, "µ", "Not a size"},
		{"µ5\n", 0, 1, 1, "µ5", "Not a size"},
		{"# µµ\n0 1\n0  \t1_000 \n", 0, 3, 5, "1_000", "Unknown suffix"},
		{"0 8589934592G\n1 0\n", 0, 1, 3, "8589934592G", "Size too large"},
		{"0 9223372036854775808\n1 0\n", 0, 1, 3, "9223372036854775808", "Size too large"},
		{"0 1e19\n1 0\n", 0, 1, 3, "1e19", "Size too large"},
		{"0 1e999\n1 0\n", 0, 1, 3, "1e999", "Size too large"},
		{"0 9223372036854775807\n1 0\n", 0, 2, 1, "1", "Too much traffic"},
		{"0 1\n1 0 7\n", 0, 2, 5, "7", "Not a square"},
		{"0 1\n1\n", 0, 2, 1, "1", "Not a square"},
		{"0 1 2\n1 0 2\n", 0, 2, 1, "1 0 2", "Not a square"},
		{"0 1\n1 0\n1 1\n", 0, 3, 1, "1", "Not a square"},
		{"0 1\n1 0\n", 4, 1, 1, "0 1", "Wrong number of ranks"},
		{"0 1 2\n", 2, 1, 5, "2", "Wrong number of ranks"},
		{"", 0, 1, 1, "", "Empty matrix"},
		{"\n# nothing\n", 0, 1, 1, "", "Empty matrix"},
		{"0 " + strings.Repeat("1", 65), 0, 1, 3, strings.Repeat("1", 64), "Not a size"},
	} {
		_, err := Parse(strings.NewReader(c.text), "m.txt", c.ranks)
		e, ok := errors.AsType[*SyntaxError](err)
		if !ok {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if e.Line != c.line || e.Column != c.column || e.Summary != c.summary || c.text[e.Start:e.End] != c.marked {
			t.Errorf("%q: %d:%d %q %q, want %d:%d %q %q", c.text, e.Line, e.Column, e.Summary, c.text[e.Start:e.End],
				c.line, c.column, c.summary, c.marked)
		}
		if want := fmt.Sprintf("m.txt:%d:%d: ", c.line, c.column); !strings.HasPrefix(err.Error(), want) ||
			!strings.HasSuffix(e.Detail, ".") {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestLayoutOfAFileDoesNotMatter(t *testing.T) {
	want := slices.Collect(parse(t, "0 1K\n2K 0\n").Cells())
	for _, text := range []string{
		"0 1K\n2K 0", "\n0\t1K \r\n\r\n  2K   0\r\n\n", "# from 0\n0 1024 # to 1\n2k 0#\n", "0 1.0K\n\n2048 0B\n",
	} {
		if got := slices.Collect(parse(t, text).Cells()); !slices.Equal(got, want) {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestAReaderThatFailsIsNoSyntaxError(t *testing.T) {
	broken := errors.New("broken")
	_, err := Parse(io.MultiReader(strings.NewReader("0 1"), iotest.ErrReader(broken)), "m.txt", 0)
	if _, syntax := errors.AsType[*SyntaxError](err); syntax || !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// matrices returns random matrices, some with cells near the limit.
func matrices(t *rapid.T) *Matrix {
	ranks := rapid.IntRange(1, 20).Draw(t, "ranks")
	var cells []Cell
	for from := range ranks {
		for to := range ranks {
			if rapid.IntRange(0, 3).Draw(t, "zero") == 0 {
				cells = append(cells, Cell{from, to, rapid.Int64Range(1, math.MaxInt64/400).Draw(t, "bytes")})
			}
		}
	}
	m, err := New(ranks, cells)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhatIsWrittenExactlyReadsBackEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := matrices(t)
		var b bytes.Buffer
		if err := m.Write(&b, Exact); err != nil {
			t.Fatal(err)
		}
		back, err := Parse(&b, "m.txt", m.Ranks())
		if err != nil {
			t.Fatal(err)
		}
		if back.Total() != m.Total() || !slices.Equal(slices.Collect(back.Cells()), slices.Collect(m.Cells())) {
			t.Fatalf("%v became %v", m, back)
		}
	})
}

func TestRoundedCellsAreWithinHalfAHundredthOfTheirUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1<<50).Draw(t, "bytes")
		back, err := ParseSize(Rounded(n))
		unit := float64(1)
		for u := float64(n); u >= 1024 && unit < 1<<30; u /= 1024 {
			unit *= 1024
		}
		digits := math.Max(0.005*unit, float64(n)*5e-6) // %g keeps six digits of more than 9999.99 G
		if err != nil || math.Abs(float64(back-n)) > digits+1 {
			t.Fatalf("%d is written %s and read %d, %v", n, Rounded(n), back, err)
		}
	})
}

// The texts are what Python's f"{round(v, 2):g}" gives.
func TestRoundedIsThePublishedSpelling(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 1: "1B", 1023: "1023B", 1024: "1K", 1536: "1.5K", 1032192000: "984.38M", 1572864000: "1.46G",
		655360000: "625M", 1228800000: "1.14G", 1<<20 - 1: "1024K", 5 << 40: "5120G",
	} {
		if got := Rounded(n); got != want {
			t.Errorf("Rounded(%d) = %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "0", 1: "1", 1024: "1K", 1536: "1536", 3 << 20: "3M", 1 << 30: "1G", 1<<30 + 1: "1073741825",
	} {
		if got := Exact(n); got != want {
			t.Errorf("Exact(%d) = %s, want %s", n, got, want)
		}
	}
}

func TestWriteStopsAtABrokenWriter(t *testing.T) {
	m := parse(t, "0 1\n1 0")
	reader, writer := io.Pipe()
	reader.Close()
	if err := m.Write(writer, Exact); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestCellsThatAreNoneAreRefused(t *testing.T) {
	for _, cells := range [][]Cell{
		{{0, 2, 1}}, {{-1, 0, 1}}, {{0, 1, 0}}, {{0, 1, -1}}, {{0, 1, 1}, {0, 1, 2}},
		{{0, 1, math.MaxInt64}, {1, 0, 1}},
	} {
		if _, err := New(2, cells); err == nil {
			t.Errorf("%v was accepted", cells)
		}
	}
	for _, ranks := range []int{-1, 0, MaxRanks + 1} {
		if _, err := New(ranks, nil); err == nil {
			t.Errorf("%d ranks were accepted", ranks)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"0 1M\n5K 0\n", "1e", "1e+", ".", "-", "0 1\n#\n1 0", "\r\r", "1.5.5K", "9223372036854775807", "\x00",
		"0 1\n1\n",
	} {
		f.Add(s, 0)
	}
	f.Fuzz(func(t *testing.T, text string, ranks int) {
		m, err := Parse(strings.NewReader(text), "m.txt", ranks%8)
		if err != nil {
			e, ok := errors.AsType[*SyntaxError](err)
			if !ok || e.Start < 0 || e.End < e.Start || e.End > len(text) || e.Line < 1 || e.Column < 1 {
				t.Fatalf("%q: %#v", text, err)
			}
			if line := strings.Count(text[:e.Start], "\n") + 1; line != e.Line {
				t.Fatalf("%q: byte %d is on line %d, and the error says %d", text, e.Start, line, e.Line)
			}
			return
		}
		var b strings.Builder
		if err := m.Write(&b, Exact); err != nil {
			t.Fatal(err)
		}
		back, err := Parse(strings.NewReader(b.String()), "back.txt", m.Ranks())
		if err != nil || !slices.Equal(slices.Collect(back.Cells()), slices.Collect(m.Cells())) {
			t.Fatalf("%q is written as %q: %v", text, b.String(), err)
		}
	})
}

func BenchmarkParse1024(b *testing.B) {
	m, err := Uniform(1024, 1572864000)
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.Write(&text, Rounded); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := Parse(bytes.NewReader(text.Bytes()), "m.txt", 1024); err != nil {
			b.Fatal(err)
		}
	}
}

// The fast path for runs of zeros gives the same results as the slow one, including errors and
// their places.
func TestRunsOfZerosAreCellsLikeOthers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"0", "0", "0", "0", "0", "7", "00", "0 ", "\n", "\n", "#",
			"µ"}), 1, 30).Draw(t, "words")
		short := strings.Join(words, " ")
		long := strings.ReplaceAll(short, "0 ", "0\t") // the fast path does not handle this
		a, errA := Parse(strings.NewReader(short), "m.txt", 0)
		b, errB := Parse(strings.NewReader(long), "m.txt", 0)
		if fmt.Sprint(errA) != fmt.Sprint(errB) {
			t.Fatalf("%q: %v and %v", short, errA, errB)
		}
		if ea, ok := errors.AsType[*SyntaxError](errA); ok {
			if eb, _ := errors.AsType[*SyntaxError](errB); *ea != *eb {
				t.Fatalf("%q: %+v and %+v", short, ea, eb)
			}
			return
		}
		if a.Ranks() != b.Ranks() || !slices.Equal(slices.Collect(a.Cells()), slices.Collect(b.Cells())) {
			t.Fatalf("%q: %v and %v", short, a, b)
		}
	})
	square := strings.Repeat("0 0 0 0 0 0\n", 5) + "0 0 0 9 0 0\n"
	if m := parse(t, square); m.Ranks() != 6 || m.At(5, 3) != 9 || m.NonZero() != 1 {
		t.Errorf("%v", m)
	}
}

// A table of another program is refused with a hint on separators.
func TestCellsAreSeparatedByBlanks(t *testing.T) {
	for _, text := range []string{"0,1M\n1M,0\n", "0, 1M\n1M, 0\n", "0;1M\n1M;0\n", "0|1M\n1M|0\n"} {
		_, err := Parse(strings.NewReader(text), "m", 0)
		if err == nil || !strings.Contains(err.Error(), "Cells are separated by blanks") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

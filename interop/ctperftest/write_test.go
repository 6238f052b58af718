package ctperftest_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/internal/matrix"
	"github.com/weir-bench/weir/interop/ctperftest"
	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/workload/traffic/model"
)

func ring(tb testing.TB, ranks int, bytes int64) *matrix.Matrix {
	tb.Helper()
	m, err := matrix.Ring(ranks, bytes)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// The directory of the published example is reproduced to the byte.
func TestThePublishedDirectory(t *testing.T) {
	m, err := model.Lookup("llama-405b")
	if err != nil {
		t.Fatal(err)
	}
	worker := model.Parallel{TP: 8, PP: 1, CP: 1}
	patterns, err := model.Generate(model.Config{
		Model: m, Prefill: worker, Decode: worker, PrefillRanks: 8, DecodeRanks: 8, BatchSize: 1,
		Compute: model.Compute{Rule: model.Published, FLOPS: model.PublishedFLOPS},
	}, []model.Request{{ISL: 16000}, {ISL: 1000, OSL: 5}})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "out", "deep")
	if err := ctperftest.Write(dir, patterns, matrix.Rounded, false); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"metadata.yaml", "matrices/matrix_0.txt", "matrices/matrix_1.txt"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		golden.Equal(t, filepath.Join("testdata", "written", filepath.Base(name)), got)
	}
}

// Exact matrices are read back unchanged, for any metadata.
func TestWhatIsWrittenReadsBack(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(2, 6).Draw(t, "ranks")
		var patterns []matrix.Pattern
		for range rapid.IntRange(1, 4).Draw(t, "patterns") {
			m, err := matrix.Permutation(n, rapid.Int64Range(1, 1<<50).Draw(t, "bytes"), rapid.Uint64().Draw(t, "seed"))
			if err != nil {
				t.Fatal(err)
			}
			if own := rapid.Int64Range(0, 1<<50).Draw(t, "own cell"); own > 0 {
				if m, err = matrix.New(n, append(slices.Collect(m.Cells()),
					matrix.Cell{From: n - 1, To: n - 1, Bytes: own})); err != nil {
					t.Fatal(err)
				}
			}
			p := matrix.Pattern{
				Matrix: m, SleepBefore: rapid.Float64Range(0, 1e6).Draw(t, "before"),
				SleepAfter: rapid.Float64Range(0, 1e6).Draw(t, "after"),
			}
			for _, key := range rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z<][a-z:# -]{0,8}`), 0, 3,
				rapid.ID[string]).Draw(t, "keys") {
				p.Metadata = append(p.Metadata, matrix.Field{
					Key: key, Value: rapid.OneOf(rapid.StringMatching(`-?[0-9]{1,9}(\.[0-9]{1,3})?`),
						rapid.StringMatching(`[ -~µ]{1,12}`)).Draw(t, "value"),
				})
			}
			patterns = append(patterns, p)
		}
		if err := ctperftest.Write(dir, patterns, matrix.Exact, true); err != nil {
			t.Fatal(err)
		}
		c, _, diags := ctperftest.Read(dir)
		if len(diags) > 0 || len(c.Patterns) != len(patterns) {
			t.Fatal(diags)
		}
		for i, p := range c.Patterns {
			q := patterns[i]
			if p.SleepBefore != q.SleepBefore || p.SleepAfter != q.SleepAfter || !slices.Equal(p.Metadata,
				q.Metadata) || !slices.Equal(slices.Collect(p.Matrix.Cells()), slices.Collect(q.Matrix.Cells())) {
				t.Fatalf("%+v became %+v", q, p)
			}
		}
	})
}

// An incomplete file does not have its final name, and metadata.yaml gets its name last.
func TestFilesGetTheirNamesWhenTheyAreWhole(t *testing.T) {
	dir := t.TempDir()
	two := slices.Repeat([]matrix.Pattern{{Matrix: ring(t, 2, 5)}}, 2)
	if err := ctperftest.Write(dir, two, matrix.Exact, false); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "metadata.yaml.tmp"), "of a writer that was killed")
	write(t, filepath.Join(dir, "matrices", "matrix_7.txt.tmp"), "of a writer that was killed")
	names := func() (out []string) {
		for _, pattern := range []string{"*.*", "matrices/*"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range found {
				out = append(out, filepath.Base(path))
			}
		}
		return out
	}
	var seen []string
	size := func(n int64) string {
		seen = append(seen, strings.Join(names(), " "))
		return matrix.Exact(n)
	}
	if err := ctperftest.Write(dir, two, size, true); err != nil {
		t.Fatal(err)
	}
	first, second := "matrix_0.txt.tmp", "matrix_0.txt matrix_1.txt.tmp"
	if want := []string{first, first, second, second}; !slices.Equal(seen, want) {
		t.Errorf("while writing there were %q, want %q", seen, want)
	}
	if got, want := names(), []string{"metadata.yaml", "matrix_0.txt", "matrix_1.txt"}; !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}

func TestNothingIsOverwrittenUnasked(t *testing.T) {
	dir := t.TempDir()
	long := slices.Repeat([]matrix.Pattern{{Matrix: ring(t, 2, 5)}}, 3)
	if err := ctperftest.Write(dir, long, matrix.Exact, false); err != nil {
		t.Fatal(err)
	}
	notes := filepath.Join(dir, "matrices", "notes.txt")
	if err := os.WriteFile(notes, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ctperftest.Write(dir, long[:1], matrix.Exact, false); !errors.Is(err, ctperftest.ErrExists) {
		t.Errorf("got %v", err)
	}
	if c, _, diags := ctperftest.Read(dir); diags.HasErrors() || len(c.Patterns) != 3 {
		t.Errorf("the refused writing changed the directory: %v", diags)
	}
	if err := ctperftest.Write(dir, long[:1], matrix.Exact, true); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "matrices", "*"))
	if err != nil || !slices.Equal(left, []string{filepath.Join(dir, "matrices", "matrix_0.txt"), notes}) {
		t.Errorf("left are %v", left)
	}
	if err := ctperftest.Write(notes, long, matrix.Exact, true); err == nil {
		t.Error("a file was taken for a directory")
	}
}

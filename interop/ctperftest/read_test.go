package ctperftest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/interop/ctperftest"
	"github.com/weir-bench/weir/test/golden"
)

// said formats what Read reports for people.
func said(t *testing.T, path string) ([]byte, *ctperftest.Config) {
	t.Helper()
	c, files, diags := ctperftest.Read(path)
	if (c == nil) != diags.HasErrors() {
		t.Errorf("%s: a config %v with errors %v", path, c, diags)
	}
	var b bytes.Buffer
	if err := dsl.WriteDiagnostics(&b, "text", diags, files); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), c
}

// Files of both programs, as published, of later versions, and as people write them, become
// scenarios in weir's layout.
func TestFilesBecomeScenarios(t *testing.T) {
	for _, path := range []string{"single.yaml", "1st.yaml", "sequence", "newer.yaml"} {
		full := filepath.Join("testdata", "good", path)
		warnings, c := said(t, full)
		if c == nil {
			t.Errorf("%s: %s", path, warnings)
			continue
		}
		stem := filepath.Join("testdata", "good", strings.TrimSuffix(path, ".yaml"))
		golden.Equal(t, stem+".warnings.txt", warnings)
		c.Move("dram")
		scenario := c.Scenario(filepath.Join("testdata", "good"))
		golden.Equal(t, stem+".scenario.yaml", scenario)
		formatted, diags := format.Format("scenario.yaml", scenario)
		if diags.HasErrors() || !bytes.Equal(formatted, scenario) {
			t.Errorf("%s: not in canonical layout: %v\n%s", path, diags, formatted)
		}
	}
}

func TestWrongFilesAreRefusedAtTheirCharacters(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "bad", "*.yaml"))
	if err != nil || len(files) < 12 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		got, c := said(t, path)
		if c != nil {
			t.Errorf("%s: was accepted", path)
		}
		golden.Equal(t, strings.TrimSuffix(path, ".yaml")+".txt.want", got)
	}
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	for _, path := range []string{"testdata/nowhere.yaml", "testdata/bad"} {
		got, c := said(t, path)
		if c != nil || !bytes.Contains(got, []byte("does not exist")) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// long is the size of a file that must not be read into memory. It is sparse, so that it needs no
// disk space.
const long = 1 << 30

// allocated returns how much memory was allocated meanwhile.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestAFileThatIsTooLargeIsNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	write(t, path, "traffic_patterns:\n")
	if err := os.Truncate(path, long); err != nil {
		t.Skip(err)
	}
	var got []byte
	spent := allocated(func() { got, _ = said(t, path) })
	if !bytes.Contains(got, []byte("is too large: at most 64 MiB")) || spent > long/16 {
		t.Errorf("%d bytes to say %s", spent, got)
	}
}

// An error at the beginning of a large matrix has its place, although the file is not kept in
// memory.
func TestALargeMatrixIsNotHeldForALine(t *testing.T) {
	dir := t.TempDir()
	path, cells := filepath.Join(dir, "f.yaml"), filepath.Join(dir, "m.txt")
	write(t, path, "traffic_pattern: {matrix_file: m.txt}\n")
	write(t, cells, "0 1\n5T 0\n")
	small, _ := said(t, path)
	if err := os.Truncate(cells, long); err != nil {
		t.Skip(err)
	}
	var got []byte
	spent := allocated(func() { got, _ = said(t, path) })
	if place := []byte("m.txt:2:1"); !bytes.Contains(got, place) || !bytes.Contains(small, place) || spent > long/16 {
		t.Errorf("%d bytes to say %s", spent, got)
	}
	if line := []byte("5T 0"); bytes.Contains(got, line) || !bytes.Contains(small, line) {
		t.Errorf("of the large file\n%s\nof the small one\n%s", got, small)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// The values of the sequence are read: patterns in order, with matrices, sleeps and metadata.
func TestValuesArrive(t *testing.T) {
	_, c := said(t, "testdata/good/sequence")
	if !c.Sequence || c.Iterations != 3 || c.Warmup != 30 || c.Isolated != 30 || len(c.Patterns) != 2 ||
		c.Ranks() != 4 {
		t.Fatalf("%+v", c)
	}
	p := c.Patterns[1]
	if isl, _ := p.Lookup("isl"); isl != "25034" || p.SleepBefore != 71.875102179328 || p.Matrix.At(1, 3) != 3<<29 ||
		p.Memory != "vram" || p.Op != "write" || p.Shards != 1 {
		t.Errorf("%+v", p)
	}
	_, c = said(t, "testdata/good/single.yaml")
	if c.Sequence || c.Iterations != 50 || c.Warmup != 10 || c.Patterns[0].Matrix.Total() != 4<<20+10<<10 {
		t.Errorf("%+v", c)
	}
}

func FuzzRead(f *testing.F) {
	for _, dir := range []string{"good", "bad"} {
		files, err := filepath.Glob(filepath.Join("testdata", dir, "*.yaml"))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range files {
			src, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		dir := t.TempDir()
		for name, content := range map[string]string{"f.yaml": string(src), "matrix.txt": "0 1\n1 0\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, "f.yaml")
		c, files, diags := ctperftest.Read(path)
		if (c == nil) != diags.HasErrors() {
			t.Fatalf("a config %v with %v", c, diags)
		}
		for _, d := range diags {
			if d.Subject != nil && files[d.Subject.Filename] != nil &&
				(d.Subject.Start.Byte < 0 || d.Subject.End.Byte < d.Subject.Start.Byte ||
					d.Subject.End.Byte > len(files[d.Subject.Filename].Bytes)) {
				t.Fatalf("%v is outside of the file", d)
			}
		}
		if c == nil {
			return
		}
		if len(c.Patterns) == 0 {
			t.Fatal("no patterns and no error")
		}
		scenario := c.Scenario(dir)
		if _, diags := dsl.CheckSyntax("scenario.yaml", scenario); diags.HasErrors() {
			t.Fatalf("%v in\n%s", diags, scenario)
		}
	})
}

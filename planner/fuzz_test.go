package planner

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-bench/weir/dsl"
)

// FuzzScenario checks for any scenario that planning does not panic, that the table and the plan
// written from it have the same digest, and that every step can be shown.
func FuzzScenario(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/*.hcl", "../examples/*.*", "../scenarios/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(filepath.Ext(file) == ".hcl", src)
		}
	}
	f.Add(false, []byte(twoRuns))
	f.Add(false, []byte(traffic))
	woven, _ := weaveOf(3)
	f.Add(false, []byte(woven))
	f.Fuzz(func(t *testing.T, isHCL bool, src []byte) {
		name := map[bool]string{false: "fuzz.yaml", true: "fuzz.hcl"}[isHCL]
		s, _, _ := dsl.Load(name, src, dsl.Options{
			Env:  func(string) (string, bool) { return "", false },
			Read: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		})
		if s == nil {
			return
		}
		table, diags := Tabulate(s)
		if (table == nil) != diags.HasErrors() {
			t.Fatal("a table with errors, or none without: ", diags)
		}
		if table == nil || table.Len() > 2000 {
			return
		}
		p := table.Plan()
		if p.Digest != table.Digest() {
			t.Fatalf("the table has digest %s and its plan %s", table.Digest(), p.Digest)
		}
		if err := p.Verify(); err != nil {
			t.Fatal(err)
		}
		for _, step := range Steps() {
			if _, diags, err := After(s, step); err != nil || diags.HasErrors() {
				t.Fatalf("after %s: %v, %v", step, err, diags)
			}
		}
	})
}

// FuzzDecode checks that a plan file is refused, or is a plan that survives writing and reading.
func FuzzDecode(f *testing.F) {
	b, err := os.ReadFile("testdata/plan.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	for _, part := range []string{"runs", "cases", "launch_groups"} {
		f.Add([]byte(`{"schema": "weir.plan/v1", "` + part + `": [null]}`))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decode(b)
		if err != nil {
			return
		}
		out, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		q, err := decode(out)
		if err != nil || q.Digest != p.Digest {
			t.Fatalf("read again: %v", err)
		}
	})
}

// FuzzParseSelector checks that a selector is refused, or can be applied to any case.
func FuzzParseSelector(f *testing.F) {
	for _, s := range []string{
		"a", "a[block_size=4KiB*]", `where:fabric == "shm" && block_size >= 1MiB`, "where:", "*[",
	} {
		f.Add(s)
	}
	p := build(f, twoRuns)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSelector(text)
		if err != nil {
			return
		}
		for _, c := range p.Cases {
			if _, err := s.matches(c); err != nil {
				return
			}
		}
	})
}

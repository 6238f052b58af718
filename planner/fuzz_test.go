package planner

import (
	"os"
	"testing"
)

// FuzzDecode: whatever a plan file holds, it is refused or it is a plan that
// survives being written and read again.
func FuzzDecode(f *testing.F) {
	b, err := os.ReadFile("testdata/plan.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema": "weir.plan/v1", "cases": [null]}`))
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

// FuzzParseSelector: a selector is refused or can be asked about any case.
func FuzzParseSelector(f *testing.F) {
	for _, s := range []string{"a", "a[block_size=4KiB*]", `where:fabric == "shm" && block_size >= 1MiB`, "where:", "*["} {
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

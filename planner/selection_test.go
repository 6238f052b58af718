package planner

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestSelect(t *testing.T) {
	const all = "a[block_size=4KiB,fabric=shm] a[block_size=4KiB,fabric=tcp] a[block_size=8KiB,fabric=shm] a[block_size=8KiB,fabric=tcp] b[block_size=4KiB] b[block_size=8KiB]"
	for _, c := range []struct{ name, only, skip, want string }{
		{"a run", "a", "", "a[block_size=4KiB,fabric=shm] a[block_size=4KiB,fabric=tcp] a[block_size=8KiB,fabric=shm] a[block_size=8KiB,fabric=tcp]"},
		{"a case with what it needs", "b[block_size=8KiB]", "",
			"a[block_size=8KiB,fabric=shm] a[block_size=8KiB,fabric=tcp] b[block_size=8KiB]"},
		{"a pattern", "a[*fabric=tcp]", "", "a[block_size=4KiB,fabric=tcp] a[block_size=8KiB,fabric=tcp]"},
		{"a condition", `where:block_size == 4KiB`, "",
			"a[block_size=4KiB,fabric=shm] a[block_size=4KiB,fabric=tcp] b[block_size=4KiB]"},
		{"skip with what needs it", "", "a[block_size=4KiB,fabric=shm]",
			"a[block_size=4KiB,fabric=tcp] a[block_size=8KiB,fabric=shm] a[block_size=8KiB,fabric=tcp] b[block_size=8KiB]"},
		{"both", "b", "where:block_size == 4KiB",
			"a[block_size=8KiB,fabric=shm] a[block_size=8KiB,fabric=tcp] b[block_size=8KiB]"},
		{"none", "", "", all},
	} {
		p := build(t, twoRuns)
		if err := p.Select(parse(t, c.only), parse(t, c.skip)); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var got []string
		for _, k := range p.Cases {
			if k.Status == Planned {
				got = append(got, k.Key)
			} else if k.Reason == "" || !k.Deselected {
				t.Errorf("%s: %s is left out without a reason", c.name, k.Key)
			}
		}
		want := strings.Fields(c.want)
		sortKeys := func(keys []string) []string { slices.Sort(keys); return keys }
		equal(t, c.name, sortKeys(got), sortKeys(want))
		if err := p.Verify(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestSelectNothing(t *testing.T) {
	for _, c := range [][2]string{{"c", ""}, {"", "a"}, {"b", "a*"}} {
		p := build(t, twoRuns)
		err := p.Select(parse(t, c[0]), parse(t, c[1]))
		if !errors.Is(err, ErrNothing) {
			t.Errorf("only %q, skip %q: got %v, want ErrNothing", c[0], c[1], err)
		}
	}
}

func TestSelectorsThatCannotBeRead(t *testing.T) {
	for _, text := range []string{"", "where:block_size ==", "where:fabric in host.fabrics"} {
		if _, err := ParseSelector(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestSetLaunches(t *testing.T) {
	p := build(t, twoRuns)
	before := p.Digest
	p.SetLaunches(2)
	equal(t, "cost", p.Cost.Launches, Range{6, 6, 6})
	if p.Digest == before {
		t.Error("another number of launches has the same digest")
	}
}

func parse(t *testing.T, text string) []Selector {
	t.Helper()
	if text == "" {
		return nil
	}
	s, err := ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return []Selector{s}
}

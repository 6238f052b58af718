package results_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

func TestMergeLibraries(t *testing.T) {
	a := results.Library{Name: "libucp", File: "/a", Build: "1"}
	b := results.Library{Name: "libucp", File: "/b", Build: "1"}
	of := func(l results.Library, ranks ...int) results.Library {
		l.Ranks = ranks
		return l
	}
	got := results.MergeLibraries([]results.Library{of(b, 2), of(a, 1), of(b, 0), of(b, 2)})
	if diff := cmp.Diff([]results.Library{of(b, 0, 2), of(a, 1)}, got); diff != "" {
		t.Error(diff)
	}
}

// Sessions that loaded other libraries differ, if both documents say what they loaded.
func TestLibrariesOfSessionsDiffer(t *testing.T) {
	of := func(list ...results.Library) *results.Case {
		return &results.Case{Key: "k", Launches: []*results.Launch{{Status: results.OK, Libraries: list}}}
	}
	old := results.Library{Name: "libucp", File: "/usr/lib/libucp.so.0.0.0", Version: "1.13", Build: "aa"}
	now := old
	now.Build = "bb"
	for _, c := range []struct {
		base, now *results.Case
		want      string
	}{
		{of(old), of(old), ""}, {of(), of(now), ""},
		{of(old), of(now), "libucp 1.13, /usr/lib/libucp.so.0.0.0, build bb"},
		{of(old), of(now, old), "build bb, or libucp 1.13, /usr/lib/libucp.so.0.0.0, build aa"},
	} {
		got := ""
		for _, d := range results.CaseDifferences([]results.CasePair{{Base: c.base, New: c.now}}) {
			if d.What == results.LibraryDiffers+"libucp" {
				got = d.New
			}
		}
		if got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

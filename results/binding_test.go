package results_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
)

func TestListsOfProcessorsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.SliceOfDistinct(rapid.IntRange(0, 40), rapid.ID[int]).Draw(t, "cpus")
		slices.Sort(cpus)
		text := results.FormatCPUs(cpus)
		if got := results.ParseCPUs(text); !slices.Equal(got, cpus) {
			t.Fatalf("%v becomes %q and %v", cpus, text, got)
		}
	})
	if got := results.FormatCPUs([]int{8, 0, 1, 2, 3, 3}); got != "0-3,8" {
		t.Error(got)
	}
}

// FuzzParseCPUs: an agent reads such a list from a task file.
func FuzzParseCPUs(f *testing.F) {
	for _, text := range []string{"", "0-3,8", "-1", "0-99999999999", "3-1", "a", "0-65535,0-65535"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range results.ParseCPUs(text) {
			if c < 0 || c >= 1<<16 {
				t.Fatalf("%q has processor %d", text, c)
			}
		}
	})
}

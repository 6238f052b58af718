package faults

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"
)

// table gathers what came of all injections.
type table struct {
	mu   sync.Mutex
	rows []row
}

func (t *table) add(r row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, r)
}

// tell writes the table: a line for each kind of fault, and what the causes were of
// sessions that failed.
func (t *table) tell(to testing.TB) {
	byKind := map[string][]row{}
	failures := map[string]int{}
	for _, r := range t.rows {
		byKind[r.kind()] = append(byKind[r.kind()], r)
		if strings.HasPrefix(r.outcome, failed) {
			failures[r.kind()+": "+strings.TrimPrefix(r.outcome, failed+": ")]++
		}
	}
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\nfault\ttimes\ttoo late\theld\tmended\tfailed\tresumed\twrong\tlongest end")
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		counts, longest, wrong := map[string]int{}, time.Duration(0), 0
		for _, r := range byKind[kind] {
			outcome, _, _ := strings.Cut(r.outcome, ":")
			counts[outcome]++
			longest = max(longest, r.took)
			if len(r.problems) > 0 {
				wrong++
			}
		}
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f s\n", kind, len(byKind[kind]), counts[missed], counts[held], counts[mended], counts[failed],
			counts[resumed]+counts[unbegun], wrong, longest.Seconds())
	}
	out.Flush() // into memory
	for _, f := range slices.Sorted(maps.Keys(failures)) {
		fmt.Fprintf(&text, "%d × %s\n", failures[f], f)
	}
	to.Log(text.String())
}

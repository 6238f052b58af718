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

// hits is how many met a session that was not over.
func (t *table) hits() (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.rows {
		if r.hit {
			n++
		}
	}
	return n
}

// tell writes the table: a line for each kind of fault, and what the causes were that
// launches and sessions failed of.
func (t *table) tell(to testing.TB) {
	byKind := map[string][]row{}
	failures := map[string]int{}
	for _, r := range t.rows {
		byKind[r.kind()] = append(byKind[r.kind()], r)
		if strings.HasPrefix(r.outcome, failed) {
			failures[r.kind()+": the session: "+strings.TrimPrefix(r.outcome, failed+": ")]++
		}
		for _, cause := range r.causes {
			failures[r.kind()+": "+cause]++
		}
	}
	var text strings.Builder
	out := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "\nfault\tinjected\thit\theld\tmended\tfailed\tresumed\thung\twrong\tlongest end")
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		counts, longest, wrong, hit := map[string]int{}, time.Duration(0), 0, 0
		for _, r := range byKind[kind] {
			outcome, _, _ := strings.Cut(r.outcome, ":")
			counts[outcome]++
			longest = max(longest, r.took)
			if len(r.problems) > 0 {
				wrong++
			}
			if r.hit {
				hit++
			}
		}
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f s\n", kind, len(byKind[kind]), hit, counts[held], counts[mended], counts[failed],
			counts[resumed]+counts[unbegun], counts[hung], wrong, longest.Seconds())
	}
	out.Flush() // into memory
	for _, f := range slices.Sorted(maps.Keys(failures)) {
		fmt.Fprintf(&text, "%d × %s\n", failures[f], f)
	}
	fmt.Fprintf(&text, "%d faults, of which %d met a session\n", len(t.rows), t.hits())
	to.Log(text.String())
}

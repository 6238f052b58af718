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

// counts are injections by outcome. Those that did not hit were late or idle, or hung.
type counts struct{ injected, hits, late, idle int }

func (t *table) counts() counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := counts{injected: len(t.rows)}
	for _, r := range t.rows {
		switch {
		case r.hit:
			n.hits++
		case r.outcome == late:
			n.late++
		case r.outcome == idle:
			n.idle++
		}
	}
	return n
}

// attempts bounds the injections for a number of hits: nine of ten hit where sessions and faults are as they should be.
func attempts(asked int) int { return 10 + 2*asked }

// goesOn says whether to inject another.
func (n counts) goesOn(asked int) bool { return n.hits < asked && n.injected < attempts(asked) }

// shortfall says that too few met a session, and why; "" if there were enough, at
// least one.
func (n counts) shortfall(asked int) string {
	if asked > 0 && n.hits >= asked {
		return ""
	}
	return fmt.Sprintf("%d faults met a session, and %d were to: of %d injected (at most %d are) %d came when the session was over, and %d found nothing to break",
		n.hits, max(asked, 1), n.injected, attempts(asked), n.late, n.idle)
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
	fmt.Fprintln(out, "\nfault\tinjected\thit\tlate\tidle\theld\tmended\tfailed\tresumed\thung\twrong\tlongest end")
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
		fmt.Fprintf(out, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f s\n", kind, len(byKind[kind]), hit,
			counts[late], counts[idle], counts[held], counts[mended], counts[failed],
			counts[resumed]+counts[unbegun], counts[hung], wrong, longest.Seconds())
	}
	out.Flush() // into memory
	for _, f := range slices.Sorted(maps.Keys(failures)) {
		fmt.Fprintf(&text, "%d × %s\n", failures[f], f)
	}
	n := t.counts()
	fmt.Fprintf(&text, "%d faults, of which %d met a session, %d came when it was over and %d found nothing to break\n",
		n.injected, n.hits, n.late, n.idle)
	to.Log(text.String())
}

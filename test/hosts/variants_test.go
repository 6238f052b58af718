package hosts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

// variants is a scenario of five variants, four levels and three launches of each, with a
// service for each of what services can be fresh for.
func variants(order string) string {
	return `scenario: variants
services:
  for_session: {command: [sh, -c, "echo up; exec sleep 8871"], ready: {log: up}}
  for_run: {command: [sh, -c, "echo up; exec sleep 8872"], ready: {log: up}, fresh: run}
  for_variant: {command: [sh, -c, "echo up ${variant.name}; exec sleep 8873"], ready: {log: up}, fresh: variant}
  for_launch: {command: [sh, -c, "echo up; exec sleep 8874"], ready: {log: up}, fresh: launch}
variants: {baseline: a, a: {name: A}, b: {name: B}, c: {name: C}, d: {name: D}, e: {name: E}}
runs:
  load:
    workload: command
    launches: 3
    services: [for_session, for_run, for_variant, for_launch]
    options: {roles: {client: {command: [echo, "${variant.name}", "${axis.level}"]}}}
    sweep:
      variant: [a, b, c, d, e]
      level: [1, 2, 3, 4]
` + order
}

// Services are started as often as they are to be fresh and no more, whatever the order of
// launches, and variants take turns where that is asked for.
func TestServicesOfVariants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		order    string
		variants int // most starts of the service that is fresh for a variant
	}{
		"in turns":     {"      order: {by: interleave, axis: variant}\n", 60},
		"as it stands": {"", 15},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			out := w.path("out")
			p := start(t, w.command("run", write(t, "variants.yaml", variants(c.order)), "--out", out, "--quiet"))
			p.ends(0)
			doc := document(t, out)
			order := launchesOf(doc)
			if len(order) != 60 {
				t.Fatalf("%d launches", len(order))
			}
			changes := 1
			for i := range order[1:] {
				if order[i+1].variant != order[i].variant {
					changes++
				}
			}
			starts := map[string]int{}
			for _, s := range doc.Services {
				starts[s.Name]++
				if s.Status != results.OK {
					t.Errorf("%+v", s)
				}
			}
			want := map[string]int{"for_session": 1, "for_run": 1, "for_variant": changes, "for_launch": 60}
			if fmt.Sprint(starts) != fmt.Sprint(want) || changes > c.variants {
				t.Errorf("starts are %v, want %v of\n%v", starts, want, order)
			}
			if c.order != "" {
				inTurns(t, order)
			}
		})
	}
}

// placed is a launch in the order in which they were made.
type placed struct {
	variant, level string
	index          int
}

func launchesOf(doc *results.Document) (order []placed) {
	type timed struct {
		placed
		at int64
	}
	var all []timed
	for _, c := range doc.Cases {
		for _, l := range c.Launches {
			all = append(all, timed{placed{option.Text(c.Axes["variant"]), option.Text(c.Axes["level"]), l.Index},
				l.Started.UnixNano()})
		}
	}
	slices.SortFunc(all, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	for _, x := range all {
		order = append(order, x.placed)
	}
	return order
}

// inTurns holds launches to taking turns: of each level the variants follow each other, and none
// begins more often than the others.
func inTurns(t *testing.T, order []placed) {
	t.Helper()
	first := map[string]int{}
	for i := 0; i < len(order); i += 5 {
		turn := order[i : i+5]
		var names []string
		for _, l := range turn {
			if l.level != turn[0].level || l.index != turn[0].index {
				t.Fatalf("launches %d to %d are not of one level and round: %v", i, i+4, turn)
			}
			names = append(names, l.variant)
		}
		first[names[0]]++
		slices.Sort(names)
		if got := strings.Join(names, ""); got != "abcde" {
			t.Errorf("variants of a turn are %s", got)
		}
	}
	if len(first) < 2 {
		t.Errorf("the same variant is always first: %v", first)
	}
}

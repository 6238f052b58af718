package planner

import (
	"fmt"
	"testing"
)

// An assertion on a share that the run's launches cannot show is refused in every form, unless it
// only requires that the share is not refuted.
func TestSharesThatCannotBeShown(t *testing.T) {
	const scenario = `
scenario: s
runs:
  a:
    workload: transfer
    options: {block_size: 4KiB}
    sweep: {op: [write, read]}
    launches: %s
    assert:
      - %s
`
	for _, c := range []struct {
		launches, assertion string
		needs               string // "": it can be shown
	}{
		{"[3, 5, 8, 12]", "availability >= 0.9", "38 launches or more"},
		{"37", "availability >= 0.9", "38 launches or more"},
		{"38", "availability >= 0.9", ""},
		{"[20, 60]", "availability >= 0.9", ""},
		{"12", "availability >= 0.7", ""},
		{"12", "availability between 0.9 and 0.99", "38 launches or more"},
		{"12", "availability <= 0.9", ""},
		{"12", "all(availability >= 0.9, bandwidth >= 1 GB/s)", "38 launches or more"},
		{"38", "all(availability >= 0.9, bandwidth >= 1 GB/s)", ""},
		{"12", "{that: availability >= 0.9, severity: warn}", "38 launches or more"},
		{"12", "{that: availability >= 0.9, severity: info}", ""},
		{"12", "{that: availability >= 0.9, decide: {on_inconclusive: pass}}", ""},
		{"30", "{that: availability >= 0.9, decide: {confidence: 90%}}", ""},
		{"38", "{that: availability >= 0.9, decide: {confidence: 99%}}", "51 launches or more"},
		{"12", "bandwidth >= 1 GB/s", ""},
	} {
		text := fmt.Sprintf(scenario, c.launches, c.assertion)
		if c.needs == "" {
			if p := build(t, text); len(p.Cases) != 2 {
				t.Errorf("%s of %s launches: %d cases", c.assertion, c.launches, len(p.Cases))
			}
			continue
		}
		d := refuse(t, text)
		mentions(t, d, 10, c.needs)
	}
}

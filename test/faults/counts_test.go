package faults

import (
	"strings"
	"testing"
)

// TestTooFewFaultsFail: a run in which nothing was broken, or less than asked, shows nothing.
func TestTooFewFaultsFail(t *testing.T) {
	rows := func(n int, r row) (all []row) {
		for range n {
			all = append(all, r)
		}
		return all
	}
	hit, wasLate, wasIdle, didHang := row{hit: true, outcome: mended}, row{outcome: late}, row{outcome: idle},
		row{outcome: hung}
	for name, test := range map[string]struct {
		asked  int
		rows   [][]row
		goesOn bool
		says   string // "": enough
	}{
		"all met one":    {12, [][]row{rows(12, hit)}, false, ""},
		"some came late": {12, [][]row{rows(13, hit), rows(5, wasLate)}, false, ""},

		"not yet": {12, [][]row{rows(11, hit), rows(5, wasLate)}, true, "11 faults met a session, and 12 were to"},

		"nothing was injected": {12, nil, true, "0 faults met a session, and 12 were to"},
		"none asked for":       {0, nil, false, "0 faults met a session, and 1 were to"},
		"all came late": {12, [][]row{rows(34, wasLate)}, false,
			"34 came when the session was over, and 0 found nothing to break"},
		"all idle": {12, [][]row{rows(34, wasIdle)}, false,
			"0 came when the session was over, and 34 found nothing to break"},

		"too few within attempts": {12, [][]row{rows(11, hit), rows(20, wasLate), rows(3, wasIdle)}, false,
			"11 faults met a session"},
		"what hung is no hit": {1, [][]row{rows(14, didHang)}, false, "0 faults met a session"},
	} {
		var all table
		for _, list := range test.rows {
			for _, r := range list {
				all.add(r)
			}
		}
		n := all.counts()
		if got := n.goesOn(test.asked); got != test.goesOn {
			t.Errorf("%s: it goes on: %v", name, got)
		}
		if got := n.shortfall(test.asked); !strings.Contains(got, test.says) || (got == "") != (test.says == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

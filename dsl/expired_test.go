package dsl_test

import (
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
)

// An expectation holds up to and including its last day. After that, loading gives a warning at the
// date, and the scenario is the same.
func TestExpiredExpectationsAreWarnedOf(t *testing.T) {
	src := []byte("scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1MiB}\n    assert: [{that: bandwidth >= 1, xfail: {reason: r, until: 2026-01-31}}]\n")
	for today, want := range map[string]int{"": 0, "2026-01-31": 0, "2026-02-01": 1, "2027-01-01": 1} {
		s, _, diags := dsl.Load("s.yaml", src, dsl.Options{Today: today})
		if len(diags) != want || s == nil {
			t.Errorf("on %q: %v", today, diags)
			continue
		}
		if want == 0 {
			continue
		}
		if d := diags[0]; d.Severity != hcl.DiagWarning || d.Subject.Start.Line != 6 || d.Subject.Start.Column != 63 {
			t.Errorf("on %q: %v at %v", today, d, d.Subject)
		}
	}
}

func TestAnExpiredExcuseOfARunIsWarnedOf(t *testing.T) {
	src := []byte("scenario: s\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 1MiB}\n    may_fail: {reason: r, until: 2026-01-31}\n")
	for today, want := range map[string]int{"": 0, "2026-01-31": 0, "2026-02-01": 1} {
		s, _, diags := dsl.Load("s.yaml", src, dsl.Options{Today: today})
		if len(diags) != want || s == nil || s.Runs[0].MayFail.Until != "2026-01-31" ||
			s.Runs[0].MayFail.Reason != "r" {
			t.Fatalf("on %q: %v", today, diags)
		}
		if want == 1 && (diags[0].Severity != hcl.DiagWarning || diags[0].Subject.Start.Line != 6) {
			t.Errorf("on %q: %v at %v", today, diags[0], diags[0].Subject)
		}
	}
}

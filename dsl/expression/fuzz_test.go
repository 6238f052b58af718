package expression

import (
	"encoding/json"
	"testing"

	"github.com/weir-bench/weir/results/assertion"
)

// For any text: no panic, every error is inside of it, and a compiled assertion lowers to data that
// JSON can represent and that evaluates or returns an error.
func FuzzAssertion(f *testing.F) {
	for _, s := range []string{
		"bandwidth within 10% of 46.48 GB/s where block_size == 64MiB", "bandwidth between 1 and 2",
		"latency.p99 <= 2 * (latency.p50 + 1us)",
		"bandwidth increases with block_size within 2%", "bandwidth >= 0.9 * run(\"tcp\").bandwidth",
		"a.b.c >= [1, 2][0]", "bandwidth >= -(-5)",
		"µs >= '\\'' ?? 5", "bandwidth >= 1e308 GB/s", "fabric in host.fabrics", "any([1], # > 0)", "let x = 5; x > 4",
		"batch in 1..99999999",
		`bandwidth >= 0.9 * run("wide", threads == 2 and op == "read").bandwidth`,
		"median(latency.p99 over fabric) <= 3 * min(latency.p50)",
		"all(bandwidth >= 40, latency.p99 <= 60us) where fabric == 'shm'", "bandwidth within 5% of reference.bandwidth",
		"bandwidth >= 0.97 * baseline.bandwidth",
		`geomean(bandwidth / run("tcp").bandwidth over fabric, block_size) >= ratio(batch, 4)`, "any(max(bandwidth)",
		"run(\"tcp\"", "max(bandwidth over",
		"fabric matches '(x{30}){30}'", "1..3 in 1..3", "all(1..9, any(1..9, # > 0))",
		"batch * 9223372036854775807 > 0", "max(over) >= 5", "over >= 5", "(00())", `run("tcp").bandwidth(5) >= 5`,
	} {
		f.Add(s)
	}
	n, cases := rich()
	f.Fuzz(func(t *testing.T, text string) {
		fuzzAssertion(t, n, cases, text)
		fuzzCondition(t, n, text)
	})
}

func inside(t *testing.T, text string, err *Error) {
	if n := len([]rune(text)); err != nil &&
		(err.From < 0 || err.To < err.From || err.To > max(n, 1) || err.Message == "") {
		t.Fatalf("%q: error at %d..%d of %d: %v", text, err.From, err.To, n, err)
	}
}

func fuzzAssertion(t *testing.T, n *Names, cases *sweptCases, text string) {
	a, err := n.Assertion(text)
	inside(t, text, err)
	if err != nil {
		return
	}
	_ = a.Uses()
	var out assertion.Assertion
	if a.Grouping() == OverCases {
		groups := cases.groups(a)
		if len(groups) == 0 {
			return
		}
		out, err = a.LowerOver(groups[0])
	} else {
		out, err = a.Lower(cases.in("main", nil)[0])
	}
	inside(t, text, err)
	if err != nil {
		return
	}
	_ = out.Key() // panics on a bound that JSON cannot represent
	if _, err := json.Marshal(out); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	subjects := []*assertion.Expr{out.Subject}
	for _, p := range out.Parts {
		subjects = append(subjects, p.Subject)
	}
	for _, subject := range subjects {
		if subject == nil && out.Quantifier == "" {
			t.Fatalf("%q lowers to nothing", text)
		}
		if subject != nil && len(subject.Leaves()) == 0 {
			t.Fatalf("%q: nothing of %s is measured", text, subject)
		}
		if subject != nil {
			_, _ = subject.EvalWith(func(*assertion.Expr) (float64, error) { return 1, nil }, out.Unit)
		}
	}
}

func fuzzCondition(t *testing.T, n *Names, text string) {
	for _, names := range []*Names{n, nil} {
		c, err := compileCondition(text, names, true)
		inside(t, text, err)
		if err != nil {
			continue
		}
		s := scope()
		s.Host = &Host{Fabrics: []string{"shm"}}
		_, _ = c.Eval(s)
		_, _ = c.Fabrics()
	}
}

package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/weir-bench/weir/results/assertion"
)

// Limits of what a document may ask of the gate. Expressions are traversed several times; no author writes
// larger ones.
const (
	leafLimit  = 20_000
	depthLimit = 200
)

// Check rejects an assertion that cannot be judged, as in a damaged document: without a subject, or with
// an invalid number or word.
func (a *AssertionVerdict) Check() error {
	if err := a.checkForm(); err != nil {
		return err
	}
	if err := finite("the halo", a.Halo); err != nil || a.Halo < 0 {
		return fmt.Errorf("its halo is %v", a.Halo)
	}
	if a.Multiple != "" && a.Multiple != "holm" {
		return fmt.Errorf("its way with multiple cases is %q, not holm", a.Multiple)
	}
	if d := a.Decide; d != nil {
		if d.Confidence != 0 && !(d.Confidence >= 0.5 && d.Confidence < 1) {
			return fmt.Errorf("its confidence is %v, not from 0.5 to below 1", d.Confidence)
		}
		if !slices.Contains([]string{"", "inconclusive", "fail", "warn", "pass"}, d.OnInconclusive) {
			return fmt.Errorf("what stands in for inconclusive is %q", d.OnInconclusive)
		}
	}
	if err := checkUntil(a.XFail); err != nil {
		return err
	}
	for _, look := range a.Looks {
		if look < 1 {
			return fmt.Errorf("it has a look after %d launches", look)
		}
	}
	return nil
}

func checkUntil(x *assertion.XFail) error {
	if x == nil {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, x.Until); err != nil {
		return fmt.Errorf("the last day on which it may fail is %q, not a date like 2026-01-31", x.Until)
	}
	return nil
}

// checkForm checks the one of five forms that the assertion has: bounds, a trend, parts, a transport, or a
// provider.
func (a *AssertionVerdict) checkForm() error {
	if a.Quantifier == "" {
		if len(a.Parts) > 0 {
			return fmt.Errorf("it has parts and neither all nor any")
		}
		if a.Transport != nil {
			return a.checkTransport()
		}
		if a.Provider != nil {
			return a.checkProvider()
		}
		if a.Trend != nil {
			if err := finite("the tolerance", a.Trend.Tolerance); err != nil || a.Trend.Tolerance < 0 {
				return fmt.Errorf("its tolerance is %v", a.Trend.Tolerance)
			}
		}
		return checkBand(a.Subject, a.Bounds)
	}
	switch {
	case a.Quantifier != "all" && a.Quantifier != "any":
		return fmt.Errorf("its quantifier is %q, not all or any", a.Quantifier)
	case len(a.Parts) == 0:
		return fmt.Errorf("it is about %s of no parts", a.Quantifier)
	case a.Subject != nil || a.Trend != nil || a.Transport != nil || a.Provider != nil:
		return fmt.Errorf("it has parts and a subject, trend, transport or provider of its own")
	}
	for i, p := range a.Parts {
		if p.Case == "" {
			return fmt.Errorf("part %d belongs to no case", i)
		}
		if err := checkBand(p.Subject, p.Bounds); err != nil {
			return fmt.Errorf("part %d: %w", i, err)
		}
	}
	return nil
}

// checkTransport checks an assertion on a transport.
func (a *AssertionVerdict) checkTransport() error {
	t := a.Transport
	switch {
	case a.Subject != nil || a.Trend != nil || a.Bounds != (assertion.Bounds{}) || a.Provider != nil:
		return fmt.Errorf("it is about a transport and has a subject, a trend, bounds or a provider")
	case t.Of != assertion.All && t.Of != assertion.Some && t.Of != assertion.None:
		return fmt.Errorf("it is about %q of the transports, not all, some or none", t.Of)
	case len(t.Names) == 0 || slices.Contains(t.Names, ""):
		return fmt.Errorf("it names no transport, or one without a name")
	}
	return nil
}

// checkProvider checks an assertion on a provider's fact.
func (a *AssertionVerdict) checkProvider() error {
	p := a.Provider
	switch {
	case a.Subject != nil || a.Trend != nil || a.Bounds != (assertion.Bounds{}):
		return fmt.Errorf("it is about a provider and has a subject, a trend or bounds")
	case p.Fact == "":
		return fmt.Errorf("it names no fact of the provider")
	case len(p.Values) == 0 || slices.Contains(p.Values, ""):
		return fmt.Errorf("it names no value of provider.%s, or an empty one", p.Fact)
	}
	return nil
}

func checkBand(subject *assertion.Expr, b assertion.Bounds) error {
	leaves := 0
	if err := checkExpr(subject, 0, &leaves); err != nil {
		return err
	}
	for _, end := range []*float64{b.Lower, b.Upper} {
		if end == nil {
			continue
		}
		if err := finite("a bound", *end); err != nil {
			return err
		}
	}
	return nil
}

func checkExpr(e *assertion.Expr, depth int, leaves *int) error {
	if e == nil {
		return fmt.Errorf("it has no subject, or an operation without its operands")
	}
	if depth > depthLimit {
		return fmt.Errorf("its subject is nested more than %d deep", depthLimit)
	}
	want := -1 // any number, but at least one
	switch e.Op {
	case assertion.Metric, assertion.Const:
		if *leaves++; *leaves > leafLimit {
			return fmt.Errorf("its subject has more than %d values", leafLimit)
		}
		want = 0
	case assertion.Add, assertion.Sub, assertion.Mul, assertion.Div:
		want = 2
	default:
		if !e.Op.Aggregates() {
			return fmt.Errorf("unknown operation %q", e.Op)
		}
	}
	if n := len(e.Args); n != want && (want >= 0 || n == 0) {
		return fmt.Errorf("operation %q has %d operands", e.Op, n)
	}
	if err := finite("a constant", e.Value); err != nil {
		return err
	}
	for _, arg := range e.Args {
		if err := checkExpr(arg, depth+1, leaves); err != nil {
			return err
		}
	}
	return nil
}

func finite(what string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%s is %v", what, v)
	}
	return nil
}

// check rejects an inconsistent document: null entries, duplicate keys, assertions that cannot be judged.
func (d *Document) check() error {
	seen := make(map[string]bool, len(d.Cases))
	for i, c := range d.Cases {
		if c == nil {
			return fmt.Errorf("case %d is null", i)
		}
		if seen[c.Key] {
			return fmt.Errorf("case %s stands twice in it", c.Key)
		}
		seen[c.Key] = true
		if slices.Contains(c.Launches, nil) {
			return fmt.Errorf("case %s: a launch is null", c.Key)
		}
		if slices.Contains(c.Assertions, nil) {
			return fmt.Errorf("case %s: an assertion is null", c.Key)
		}
		if c.MayFail != nil {
			if err := cmp.Or(checkUntil(&c.MayFail.XFail), c.MayFail.Check()); err != nil {
				return fmt.Errorf("case %s: %w", c.Key, err)
			}
		}
	}
	if slices.Contains(d.Assertions, nil) {
		return fmt.Errorf("an assertion is null")
	}
	if err := d.checkMetrics(); err != nil {
		return err
	}
	for _, a := range d.AllAssertions() {
		if err := a.Check(); err != nil {
			return fmt.Errorf("assertion %q: %w", a.Name, err)
		}
	}
	return nil
}

package fleet

import "testing"

// Several nodes that did not come have a line each.
func TestListed(t *testing.T) {
	for want, reasons := range map[string][]string{
		"": nil, ": a: refused": {"a: refused"}, ":\na: refused\nb: down": {"a: refused", "b: down"},
	} {
		if got := listed(reasons); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package expression

import (
	"strings"
	"testing"
)

// The parser and all functions on its result are recursive.
func TestDeepAssertionsAreRefused(t *testing.T) {
	n, _ := rich()
	nested := func(times int, before, after string) string {
		return strings.Repeat(before, times) + "bandwidth" + strings.Repeat(after, times) + " >= 5"
	}
	for name, text := range map[string]func(times int) string{
		"parentheses": func(times int) string { return nested(times, "(", ")") },
		"minus":       func(times int) string { return nested(times, "- ", "") },
		"ratios": func(times int) string {
			return nested(times, "ratio(bandwidth, 1 * bandwidth) * ratio(bandwidth,", ")")
		},
		"sums":     func(times int) string { return nested(times, "bandwidth+", "") },
		"products": func(times int) string { return nested(times, "2 * (", ")") },
		"unclosed": func(times int) string { return "bandwidth >= " + strings.Repeat("(", times) + "5" },
	} {
		if _, err := n.Assertion(text(20)); err != nil && strings.Contains(err.Message, "nested") {
			t.Errorf("20 %s: %v", name, err)
		}
		for _, times := range []int{maxNesting + 1, 300} {
			text := text(times)
			if len(text) > maxText {
				continue
			}
			if _, err := n.Assertion(text); err == nil || err.Message != "operations are nested more than 150 deep" {
				t.Errorf("%d %s: %v", times, name, err)
			}
		}
	}
	if _, err := n.Assertion(strings.Repeat("1*", 2000) + "1 * bandwidth >= 5"); err != nil {
		t.Error(err)
	}
	if _, err := n.Assertion(strings.Repeat("(", maxText) + "1"); err == nil ||
		!strings.Contains(err.Message, "longer than 4096") {
		t.Error(err)
	}
}

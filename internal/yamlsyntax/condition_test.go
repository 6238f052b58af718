package yamlsyntax

import "testing"

func TestConditionsOfRunsAreQuoted(t *testing.T) {
	for text, want := range map[string]string{
		`${run("a").b}`:                           `${run("a").b}`,
		`${run("a", "x == 1").b}`:                 `${run("a", "x == 1").b}`,
		`x ${run("a", x == 64MiB).b} y`:           `x ${run("a", "x == 64MiB").b} y`,
		`${run("a", (x == 1 or f == "shm") ).b}`:  `${run("a", "(x == 1 or f == \"shm\")").b}`,
		`${run("a", f == ")").b}${run("c", y).d}`: `${run("a", "f == \")\"").b}${run("c", "y").d}`,
		`${run("a", x`:                            `${run("a", x`,
		`${prun("a", x)}`:                         `${prun("a", x)}`,
	} {
		if got := QuoteConditions(text); got != want {
			t.Errorf("%s: %s", text, got)
		}
	}
}

package dsl

import "testing"

// Every function is documented, and every example has the value that the documentation prints.
func TestEveryFunctionHasAnExampleThatEvaluates(t *testing.T) {
	for _, f := range Functions() {
		if f.Doc == "" {
			t.Errorf("%s is not described", f.Name)
		}
		if f.Name == "secret" {
			continue // has no value while a scenario is read
		}
		if v, err := EvaluateExample(f.Example); err != nil || v == "" {
			t.Errorf("%s: %q gives %q, %v", f.Name, f.Example, v, err)
		}
	}
	for example, want := range map[string]string{
		`size("64MiB") / size("4KiB")`: "16384", `time("5ms")`: "0.005", `reverse([1, 2, 3])`: "[3, 2, 1]",
		`contains(["shm", "tcp"], "tcp")`: "true", `element(["a", "b"], 3)`: "b", `format("rank-%02d", 7)`: "rank-07",
	} {
		if got, err := EvaluateExample(example); got != want || err != nil {
			t.Errorf("%s = %q, %v; want %q", example, got, err, want)
		}
	}
	if _, err := EvaluateExample("1 +"); err == nil {
		t.Error("half an expression has a value")
	}
}

package format_test

import (
	"testing"

	"github.com/weir-bench/weir/dsl/format"
)

// fuzz checks invariants for any bytes.
func fuzz(f *testing.F, syntax string) {
	for _, file := range shipped(f) {
		if format.SyntaxOf(file) == syntax {
			f.Add(read(f, file))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if _, diags := hold(t, "fuzz."+syntax, src); diags.HasErrors() && diags[0].Summary == "Cannot be rewritten" {
			t.Logf("refused: %v", diags)
		}
	})
}

func FuzzYAML(f *testing.F) { fuzz(f, format.YAML) }

func FuzzHCL(f *testing.F) { fuzz(f, format.HCL) }

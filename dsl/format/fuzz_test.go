package format_test

import (
	"testing"

	"weir/dsl/format"
)

// fuzz holds what is true of any bytes: what is formatted means the same and is
// formatted, and what is converted means the same there and back.
func fuzz(f *testing.F, syntax string) {
	for _, file := range shipped(f) {
		if format.SyntaxOf(file) == syntax {
			f.Add(read(f, file))
		}
	}
	name, converted := "fuzz."+syntax, "fuzz."+other[syntax]
	f.Fuzz(func(t *testing.T, src []byte) {
		out, diags := format.Format(name, src)
		if diags.HasErrors() {
			if diags[0].Summary == "Cannot be rewritten" {
				t.Logf("refused: %v", diags)
			}
			return
		}
		if again, diags := format.Format(name, out); diags.HasErrors() || string(again) != string(out) {
			t.Fatalf("formatting again gives, %v\n%s\nafter\n%s", diags, again, out)
		}
		want := digest(name, src)
		if got := digest(name, out); want != "" && got != want {
			t.Fatalf("the plan was %s and is %s after\n%s", want, got, out)
		}
		there, diags := format.Convert(name, src, other[syntax])
		if diags.HasErrors() {
			return
		}
		back, diags := format.Convert(converted, there, syntax)
		if diags.HasErrors() {
			t.Fatalf("cannot be converted back: %v\n%s", diags, there)
		}
		if got := digest(converted, there); want != "" && got != want {
			t.Fatalf("the plan was %s and is %s converted:\n%s", want, got, there)
		}
		if got := digest(name, back); want != "" && got != want {
			t.Fatalf("the plan was %s and is %s there and back:\n%s", want, got, back)
		}
	})
}

func FuzzYAML(f *testing.F) { fuzz(f, format.YAML) }

func FuzzHCL(f *testing.F) { fuzz(f, format.HCL) }

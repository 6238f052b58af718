package yamlsyntax

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadData(t *testing.T) {
	got, err := ReadData([]byte("a: {b: [1, 1.5, \"1\", yes, true, null, 2026-01-31, 0o17]}\n---\n---\n- x\n"),
		"p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := []any{
		map[string]any{"a": map[string]any{"b": []any{1, 1.5, "1", "yes", true, nil, "2026-01-31", 15}}},
		[]any{"x"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestReadDataRefuses(t *testing.T) {
	for name, c := range map[string]struct{ src, want string }{
		"key":     {"1: a", "p.yaml: the key 1 is not a text: write it in quotes"},
		"nesting": {strings.Repeat("[", 70) + strings.Repeat("]", 70), "p.yaml: more than 64 levels of nesting"},
		"syntax":  {"a: b: c", "p.yaml: yaml: mapping values are not allowed in this context"},
		"bomb": {"a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e,*e]\ng: [*f,*f,*f,*f,*f,*f,*f,*f,*f,*f]",
			"p.yaml: yaml: document contains excessive aliasing"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadData([]byte(c.src), "p.yaml")
			if err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// Data that is written and read again is the same.
func FuzzData(f *testing.F) {
	for _, src := range []string{
		"a: 1", "a: \"1\"\nb: [x, {c: null}]\n---\nd: |\n  e\n", "yes: no", "a: 2026-01-31T01:02:03Z", "a: .nan",
		"a: -0x1F", "? [a]\n: b", "? !00000", "!t a: [{!t b: 2026-01-31}]",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		first, err := ReadData(src, "f")
		if err != nil {
			return
		}
		text, err := WriteData(first...)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadData(text, "g")
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if d := cmp.Diff(first, again, cmp.FilterValues(numbers, cmp.Comparer(sameNumber))); d != "" {
			t.Errorf("%s\nin %q, written as\n%s", d, src, text)
		}
	})
}

// 080 is read as a float, as in YAML, and written as the number.
func numbers(a, b any) bool { return number(a) != nil && number(b) != nil }

func sameNumber(a, b any) bool {
	x, y := *number(a), *number(b)
	return x == y || x != x && y != y
}

func number(v any) *float64 {
	switch v := reflect.ValueOf(v); {
	case v.CanInt():
		return new(float64(v.Int()))
	case v.CanUint():
		return new(float64(v.Uint()))
	case v.CanFloat():
		return new(v.Float())
	}
	return nil
}

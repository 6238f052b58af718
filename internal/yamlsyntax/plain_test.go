package yamlsyntax

import (
	"fmt"
	"strings"
	"testing"
)

func TestPlainDocumentsHaveTextAtExactPlaces(t *testing.T) {
	src := "a: ${x\nb: &one [1, {c: null, d: ''}]\ne: *one\n\ufeff: \"%{if}\"\n"
	top, diags := ParsePlain([]byte(src), "t.yaml")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if top.Kind != Mapping || len(top.Pairs) != 4 {
		t.Fatalf("%+v", top)
	}
	for i, want := range []string{"${x", "[1, {c: null, d: ''}]", "[1, {c: null, d: ''}]", `"%{if}"`} {
		if got := string(top.Pairs[i].Value.Range.SliceBytes([]byte(src))); got != want {
			t.Errorf("the value of %s covers %q, want %q", top.Pairs[i].Key, got, want)
		}
	}
	if got := top.Pairs[0].Value.Text; got != "${x" {
		t.Errorf("text %q", got)
	}
	if top.Pairs[1].Value != top.Pairs[2].Value {
		t.Error("an alias is not what it stands for")
	}
	inner := top.Pairs[1].Value.Items[1].Pairs
	if !inner[0].Value.Null || inner[1].Value.Null || inner[0].Key != "c" || inner[0].KeyRange.Start.Line != 2 ||
		inner[0].KeyRange.Start.Column != 14 {
		t.Errorf("%+v, %+v", inner[0], inner[1])
	}
}

func TestPlainDocumentsWithErrorsAreNil(t *testing.T) {
	for src, want := range map[string]string{
		"":                "Empty file",
		"a: [":            "Invalid YAML",
		"a: 1\na: 2":      "Duplicate key",
		"a: 1\n---\nb: 2": "Several documents in one file",
		"a: \xff":         "Not UTF-8",
		"a: &x [*x]":      "Alias inside itself",
		strings.Repeat("[", 70) + "1" + strings.Repeat("]", 70): "Nested too deeply",
	} {
		top, diags := ParsePlain([]byte(src), "t.yaml")
		if top != nil || len(diags) == 0 || diags[0].Summary != want {
			t.Errorf("%q: %v, want %s", src, diags, want)
		}
	}
}

// Files of tens of thousands of entries are read, but not aliases that expand to more than any file
// has.
func TestPlainDocumentsMayBeLarge(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "- {n: %d, m: [1, 2]}\n", i)
	}
	top, diags := ParsePlain([]byte(b.String()), "t.yaml")
	if diags.HasErrors() || len(top.Items) != 20_000 {
		t.Fatal(diags)
	}
	bomb := "a: &a [" + strings.Repeat("1,", 99) + "1]\n"
	for i, c := range "bcde" {
		bomb += fmt.Sprintf("%c: &%c [%s]\n", c, c,
			strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*%c,", 'a'+i), 100), ","))
	}
	if top, diags = ParsePlain([]byte(bomb), "t.yaml"); top != nil || diags[0].Summary != "Too large" {
		t.Errorf("a bomb: %v", diags)
	}
}

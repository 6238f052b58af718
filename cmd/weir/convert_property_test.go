package main

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/test/phase"
)

// planned is the digest of a scenario's plan, which holds together.
func planned(t *rapid.T, file, src string) string {
	s, _, diags := dsl.Load(file, []byte(src), dsl.Options{
		Env: func(name string) (string, bool) { return "here", name == "HOME" },
		Read: func(path string) ([]byte, error) {
			text, ok := others[path]
			if !ok {
				return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
			}
			return []byte(text), nil
		},
	})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, src)
	}
	p, diags := planner.Build(s)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, src)
	}
	digest := p.Digest
	if err := p.Verify(); err != nil {
		t.Fatalf("%v\n%s", err, src)
	}
	if err := p.Select(nil, nil); err == nil && p.Digest != digest {
		t.Fatalf("selecting nothing changes the plan of\n%s", src)
	}
	return digest
}

// TestBothSyntaxesGiveOnePlan: however a scenario is laid out, and in whichever
// syntax, what it plans is the same.
func TestBothSyntaxesGiveOnePlan(t *testing.T) {
	phase.NotUnderRace(t)
	rapid.Check(t, func(t *rapid.T) {
		src := newAuthor(t, true).scenario()
		digest := planned(t, "a.yaml", src)
		hold := func(what, file, text string) {
			if got := planned(t, file, text); got != digest {
				t.Fatalf("%s plans something else:\n%s\nof\n%s", what, text, src)
			}
		}
		formatted := func(file, text string) string {
			out, diags := format.Format(file, []byte(text))
			if diags.HasErrors() {
				t.Fatalf("formatting: %v\n%s", diags, text)
			}
			return string(out)
		}
		converted := func(file, text, to string) string {
			out, diags := format.Convert(file, []byte(text), to)
			if diags.HasErrors() {
				t.Fatalf("converting to %s: %v\n%s", to, diags, text)
			}
			return string(out)
		}
		hold("the formatted YAML", "a.yaml", formatted("a.yaml", src))
		there := converted("a.yaml", src, format.HCL)
		hold("the HCL", "a.hcl", there)
		if again := formatted("a.hcl", there); again != there {
			t.Fatalf("converted HCL is not formatted:\n%s\nbut\n%s", there, again)
		}
		back := converted("a.hcl", there, format.YAML)
		hold("the YAML from HCL", "a.yaml", back)
		if strings.TrimSpace(back) == "" {
			t.Fatal("nothing came back")
		}
	})
}

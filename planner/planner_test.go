package planner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"weir/dsl"
)

// build plans a YAML scenario that must be right.
func build(t testing.TB, text string) *Plan {
	t.Helper()
	p, diags := plan(t, "test.yaml", text)
	if diags.HasErrors() {
		t.Fatalf("planning:\n%s\n%s", text, render(diags))
	}
	return p
}

// refuse plans a YAML scenario that reads well and cannot be planned.
func refuse(t testing.TB, text string) hcl.Diagnostics {
	t.Helper()
	p, diags := plan(t, "test.yaml", text)
	if !diags.HasErrors() || p != nil {
		t.Fatalf("planned a scenario that is wrong:\n%s", text)
	}
	return diags
}

func plan(t testing.TB, file, text string) (*Plan, hcl.Diagnostics) {
	t.Helper()
	s, _, diags := dsl.Load(file, []byte(text), dsl.Options{Env: func(string) (string, bool) { return "", false }})
	if diags.HasErrors() {
		t.Fatalf("reading:\n%s\n%s", text, render(diags))
	}
	p, diags := Build(s)
	if p != nil { // the digests of a table are those of the plan that it writes
		if err := p.Verify(); err != nil {
			t.Fatalf("%s:\n%v", text, err)
		}
	}
	return p, diags
}

func render(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		b.WriteString(d.Error() + "\n")
	}
	return b.String()
}

func keys(p *Plan) []string {
	var out []string
	for _, c := range p.Cases {
		out = append(out, c.Key)
	}
	return out
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmp.AllowUnexported(Plan{}, LaunchGroup{})); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// mentions checks that one diagnostic says all of the words, at the line.
func mentions(t *testing.T, diags hcl.Diagnostics, line int, words ...string) {
	t.Helper()
	for _, d := range diags {
		hint, _ := d.Extra.(dsl.Hint)
		text := d.Summary + ": " + d.Detail + " " + string(hint)
		all := d.Subject != nil && d.Subject.Start.Line == line
		for _, w := range words {
			all = all && strings.Contains(text, w)
		}
		if all {
			return
		}
	}
	t.Errorf("no diagnostic at line %d says %q:\n%s", line, words, render(diags))
}

package planner

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"github.com/weir-bench/weir/dsl"
)

// build plans a valid YAML scenario.
func build(t testing.TB, text string) *Plan {
	t.Helper()
	p, diags := plan(t, "test.yaml", text)
	if diags.HasErrors() {
		t.Fatalf("planning:\n%s\n%s", text, render(diags))
	}
	return p
}

// refuse plans a YAML scenario that loads but cannot be planned.
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
	p, diags := Build(read(t, file, text, dsl.Options{Env: func(string) (string, bool) { return "", false }}))
	if p != nil { // the digests of a table equal those of the plan that it writes
		if err := p.Verify(); err != nil {
			t.Fatalf("%s:\n%v", text, err)
		}
	}
	return p, diags
}

// read loads a valid scenario.
func read(t testing.TB, file, text string, options dsl.Options) *dsl.Scenario {
	t.Helper()
	s, _, diags := dsl.Load(file, []byte(text), options)
	if diags.HasErrors() {
		t.Fatalf("reading:\n%s\n%s", text, render(diags))
	}
	return s
}

// saved returns the plan after writing and reading.
func saved(t *testing.T, p *Plan) *Plan {
	t.Helper()
	b, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	q, err := decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func textOf(t *testing.T, p *Plan) string {
	t.Helper()
	var b strings.Builder
	if err := p.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func statuses(p *Plan) map[string]string {
	out := map[string]string{}
	for _, c := range p.Cases {
		out[c.Key] = c.Status
	}
	return out
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
	if d := cmp.Diff(want, got, cmp.AllowUnexported(Plan{}, LaunchGroup{}),
		cmpopts.IgnoreFields(Plan{}, "byKey", "looksOf")); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// mentions checks that one diagnostic at the line contains all words.
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

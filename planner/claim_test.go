package planner

import (
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
)

// A claim above what the path of its case carries is marked before anything runs: by the link of the path's
// kind, not by the fastest of the site.
func TestImplausibleClaims(t *testing.T) {
	links := map[string]float64{"efa": 12.5, "host": 400}
	for _, c := range []struct {
		name, run, claim string
		links            map[string]float64
		marked           string
		warned           bool
	}{
		{"a NIC", "options: {fabric: ucx, block_size: 1MiB}, place: {nodes: 2, nics_per_rank: 1}",
			"value: 285 GB/s", links, "285 GB/s is more than 1 × 12.50 GB/s", true},
		{"within a node", "options: {fabric: shm, block_size: 1MiB}", "value: 285 GB/s", links, "", false},
		{"more than memory", "options: {fabric: shm, block_size: 1MiB}", "value: 500", links,
			"500 GB/s is more than 1 × 400.0 GB/s", true},
		{"no site", "options: {fabric: ucx, block_size: 1MiB}, place: {nodes: 2, nics_per_rank: 1}",
			"value: 285 GB/s", nil, "", false},
		{"measured otherwise", "options: {fabric: ucx, block_size: 1MiB}, place: {nodes: 2, nics_per_rank: 1}",
			"value: 285 GB/s, requires: [nodes == 4]", links, "", false},
		{"its own limit, measured otherwise", "options: {fabric: ucx, block_size: 1MiB}",
			"value: 285 GB/s, plausible: 12.5 GB/s, requires: [nodes == 4]", links, "285 GB/s is more than 12.50 GB/s",
			false},
		{"its own limit", "options: {fabric: ucx, block_size: 1MiB}", "value: 285 GB/s, plausible: 12.5 GB/s", nil,
			"285 GB/s is more than 12.50 GB/s", false},
		{"within its own limit", "options: {fabric: ucx, block_size: 1MiB}", "value: 12 GB/s, plausible: 12.5 GB/s",
			nil, "", false},
	} {
		src := "scenario: s\nclaims: [{run: a, metric: bandwidth, source: d, " + c.claim +
			"}]\nruns:\n  a: {workload: transfer, " + c.run + "}\n"
		s, _, diags := dsl.Load("s.yaml", []byte(src), dsl.Options{Links: c.links})
		if diags.HasErrors() {
			t.Fatalf("%s: %v", c.name, diags)
		}
		p, diags := Build(s)
		if p == nil || len(p.Claims) != 1 {
			t.Fatalf("%s: %v", c.name, diags)
		}
		if got := p.Claims[0].Implausible; !strings.HasPrefix(got, c.marked) || (c.marked == "") != (got == "") {
			t.Errorf("%s: implausible is %q", c.name, got)
		}
		if warned := len(diags) > 0; warned != c.warned {
			t.Errorf("%s: %v", c.name, diags)
		}
		var text strings.Builder
		if err := p.Text(&text); err != nil {
			t.Fatal(err)
		}
		if c.marked != "" && !strings.Contains(text.String(), "implausible: "+c.marked) {
			t.Errorf("%s: the plan does not say so:\n%s", c.name, text.String())
		}
	}
}

// A claim tells of each case in what it differs from what the document measured, before anything runs.
func TestClaimsOfOtherConfigurations(t *testing.T) {
	src := `scenario: s
claims:
  - {run: a, where: block_size == 4MiB, metric: bandwidth, value: 1 GB/s, source: d, requires: [op == "write"]}
  - {run: a, metric: bandwidth, value: 42.1 GB/s, source: d, requires: [op == "write", block_size == 2MiB, fabric == "ucx"]}
runs:
  a: {workload: transfer, options: {fabric: shm, op: write}, sweep: {block_size: [1MiB, 2MiB]}}
`
	s, _, diags := dsl.Load("s.yaml", []byte(src), dsl.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := Build(s)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := []string{
		`block_size == 2MiB, but block_size is 1MiB; fabric == "ucx", but fabric is shm`,
		`fabric == "ucx", but fabric is shm`,
	}
	var got []string
	for _, c := range p.Claims {
		got = append(got, c.Differs)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the cases differ in %q", got)
	}
	var text strings.Builder
	if err := p.Text(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "not comparable: "+want[1]) {
		t.Errorf("the plan does not say so:\n%s", text.String())
	}
}

// Claims change neither what runs nor its digest, and survive a saved plan.
func TestClaimsAreNoContent(t *testing.T) {
	build := func(claims string) *Plan {
		src := "scenario: s\n" + claims + "runs:\n  a: {workload: transfer, sweep: {block_size: [1MiB, 2MiB]}}\n"
		s, _, diags := dsl.Load("s.yaml", []byte(src), dsl.Options{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		p, diags := Build(s)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return p
	}
	plain, claimed := build(""), build("claims: [{run: a, metric: bandwidth, value: 2, source: d}]\n")
	if plain.Digest != claimed.Digest || len(claimed.Claims) != 2 || claimed.Claims[1].Case != "a[block_size=2MiB]" {
		t.Errorf("%s and %s, claims %+v", plain.Digest, claimed.Digest, claimed.Claims)
	}
	b, err := claimed.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := decode(b); err != nil || len(again.Claims) != 2 {
		t.Errorf("%v, %v", again, err)
	}
	src := "scenario: s\nclaims: [{run: a, metric: bandwidth, value: 2, source: d, where: block_size == 4MiB}]\n" +
		"runs:\n  a: {workload: transfer, sweep: {block_size: [1MiB, 2MiB]}}\n"
	s, _, diags := dsl.Load("s.yaml", []byte(src), dsl.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if _, diags = Build(s); !diags.HasErrors() || diags[0].Summary != "Claim matches no case" {
		t.Errorf("%v", diags)
	}
}

// claimsPlanned are the claims of a scenario, each with what its case has otherwise.
func claimsPlanned(t *testing.T, src string) (all []string) {
	t.Helper()
	s, _, diags := dsl.Load("s.yaml", []byte(src), dsl.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p, diags := Build(s)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, c := range p.Claims {
		all = append(all, c.Case+": "+c.Differs)
	}
	return all
}

// A claim may require a number of nodes and variables of the ranks, which are no options.
func TestClaimsRequireNodesAndVariables(t *testing.T) {
	for _, c := range []struct{ run, want string }{
		{"place: {nodes: 2}, env: {FI_PROVIDER: efa}", ""},
		{"env: {FI_PROVIDER: tcp}", `nodes == 2, but nodes is 1; env.FI_PROVIDER == "efa", but env.FI_PROVIDER is tcp`},
		{"place: {nodes: 2}, sweep: {env.FI_PROVIDER: [null]}",
			`env.FI_PROVIDER == "efa", but env.FI_PROVIDER is null`},
	} {
		got := claimsPlanned(t, `scenario: s
claims: [{run: a, metric: bandwidth, value: 1 GB/s, source: d, requires: [nodes == 2, 'env.FI_PROVIDER == "efa"']}]
runs:
  a: {workload: transfer, options: {fabric: shm, block_size: 1MiB}, `+c.run+"}\n")
		if _, differs, _ := strings.Cut(got[0], ": "); len(got) != 1 || differs != c.want {
			t.Errorf("%s: %q, want %q", c.run, got, c.want)
		}
	}
}

// Of claims that say the same of two runs those of the run that `when` leaves out are left out.
func TestClaimsFollowTheRunThatRuns(t *testing.T) {
	for way, want := range map[string]string{
		"one": "one[block_size=1MiB]", "two": "two[block_size=1MiB]",
		"none": "one[block_size=1MiB] two[block_size=1MiB]", "both": "one[block_size=1MiB] two[block_size=1MiB]",
	} {
		var got []string
		for _, c := range claimsPlanned(t, `scenario: s
variables: {way: {default: `+way+`}}
claims:
  - &claim {run: one, metric: bandwidth, value: 1 GB/s, source: d}
  - {<<: *claim, run: two}
runs:
  one: {workload: transfer, when: '${contains(["one", "both"], var.way)}', sweep: {block_size: [1MiB]}}
  two: {workload: transfer, when: '${contains(["two", "both"], var.way)}', sweep: {block_size: [1MiB]}}
`) {
			got = append(got, strings.TrimSuffix(c, ": "))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", way, got, want)
		}
	}
}

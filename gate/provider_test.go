package gate

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

func factsOf(texts ...string) (out []results.ProviderFact) {
	for _, text := range texts {
		name, rest, _ := strings.Cut(text, "=")
		value, rank, _ := strings.Cut(rest, "@")
		out = append(out, results.ProviderFact{Name: name, Value: value, Ranks: []int{int(rank[0] - '0')}})
	}
	return results.MergeProviderFacts(out)
}

// caseWithFacts is a case of which both ranks moved data in each launch, and read these facts back.
func caseWithFacts(launches ...[]results.ProviderFact) *results.Case {
	c := caseOf("c", make([]float64, len(launches))...)
	for i, facts := range launches {
		c.Launches[i].Metrics.Set("bandwidth", 1)
		c.Launches[i].Fabric = "libfabric"
		c.Launches[i].Transports = []results.Transport{{Name: "efa", Use: results.DataUse, Ranks: []int{0, 1}}}
		c.Launches[i].Provider = facts
	}
	return c
}

func TestFactsOfProviders(t *testing.T) {
	on := factsOf("hmem_p2p=enabled@0", "hmem_p2p=enabled@1")
	off := factsOf("hmem_p2p=disabled@0", "hmem_p2p=disabled@1")
	for name, c := range map[string]struct {
		not      bool
		values   []string
		launches [][]results.ProviderFact
		want     results.Verdict
		reason   string
	}{
		"as stated": {false, []string{"enabled"}, [][]results.ProviderFact{on}, results.Pass,
			"stated-held"},
		"one of two": {false, []string{"required", "enabled"}, [][]results.ProviderFact{on, on}, results.Pass,
			"stated-held launches=2"},
		"another value": {false, []string{"enabled"}, [][]results.ProviderFact{off}, results.Fail,
			"wrong-provider-fact fact=disabled"},
		"in one launch": {false, []string{"enabled"}, [][]results.ProviderFact{on, off}, results.Fail,
			"wrong-provider-fact launch=2"},
		"at one rank": {false, []string{"enabled"},
			[][]results.ProviderFact{factsOf("hmem_p2p=enabled@0", "hmem_p2p=disabled@1")}, results.Fail,
			"wrong-provider-fact launch=1"},
		"not it": {true, []string{"disabled"}, [][]results.ProviderFact{on}, results.Pass, ""},
		"it after all": {true, []string{"enabled"}, [][]results.ProviderFact{on}, results.Fail,
			"wrong-provider-fact fact=enabled"},
		"nothing told": {false, []string{"enabled"}, [][]results.ProviderFact{nil}, results.ErrorVerdict,
			"provider-fact-unknown fact=hmem_p2p"},
		"nothing told, not": {true, []string{"enabled"}, [][]results.ProviderFact{nil}, results.ErrorVerdict,
			"provider-fact-unknown"},
		"something else told": {false, []string{"enabled"}, [][]results.ProviderFact{factsOf("tx_size=256@0")},
			results.ErrorVerdict, "provider-fact-unknown says=tx_size=256"},
		"one rank told": {false, []string{"enabled"}, [][]results.ProviderFact{factsOf("hmem_p2p=enabled@0")},
			results.ErrorVerdict, "provider-fact-unknown launch=1"},
	} {
		a := &results.AssertionVerdict{Assertion: assertion.Assertion{Name: "t", Severity: assertion.Gate,
			Provider: &assertion.Provider{Fact: "hmem_p2p", Not: c.not, Values: c.values}},
			Looks: []int{len(c.launches)}}
		doc := judged(caseWithFacts(c.launches...), a)
		if a.Verdict != c.want || !has(a.Reasons, c.reason) || a.Observed != nil {
			t.Errorf("%s: %s: %s", name, a.Verdict, a.Message)
		}
		Judge(doc)
		if a.Verdict != c.want {
			t.Errorf("%s: judged again it is %s", name, a.Verdict)
		}
	}
}

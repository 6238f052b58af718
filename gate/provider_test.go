package gate

import (
	"strings"
	"testing"

	"weir/assertion"
	"weir/results"
)

func factsOf(texts ...string) (out []results.ProviderFact) {
	for _, text := range texts {
		name, rest, _ := strings.Cut(text, "=")
		value, rank, _ := strings.Cut(rest, "@")
		out = append(out, results.ProviderFact{Name: name, Value: value, Ranks: []int{int(rank[0] - '0')}})
	}
	return results.MergeProviderFacts(out)
}

// told is a case of which both ranks moved data in each launch, and read these facts back.
func told(launches ...[]results.ProviderFact) *results.Case {
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
		says     string
	}{
		"as stated": {false, []string{"enabled"}, [][]results.ProviderFact{on}, results.Pass,
			"hmem_p2p=enabled is what the library said in the one launch"},
		"one of two": {false, []string{"required", "enabled"}, [][]results.ProviderFact{on, on}, results.Pass,
			"all 2"},
		"another value": {false, []string{"enabled"}, [][]results.ProviderFact{off}, results.Fail,
			"it is disabled at ranks 0, 1"},
		"in one launch": {false, []string{"enabled"}, [][]results.ProviderFact{on, off}, results.Fail,
			"provider.hmem_p2p is enabled is stated, but launch 2"},
		"at one rank": {false, []string{"enabled"},
			[][]results.ProviderFact{factsOf("hmem_p2p=enabled@0", "hmem_p2p=disabled@1")}, results.Fail, "at rank 1"},
		"not it": {true, []string{"disabled"}, [][]results.ProviderFact{on}, results.Pass, ""},
		"it after all": {true, []string{"enabled"}, [][]results.ProviderFact{on}, results.Fail,
			"enabled at ranks 0, 1"},
		"nothing told": {false, []string{"enabled"}, [][]results.ProviderFact{nil}, results.ErrorVerdict,
			"the library of fabric libfabric says nothing of a provider, so not of hmem_p2p"},
		"nothing told, not": {true, []string{"enabled"}, [][]results.ProviderFact{nil}, results.ErrorVerdict,
			"says nothing"},
		"something else told": {false, []string{"enabled"}, [][]results.ProviderFact{factsOf("tx_size=256@0")},
			results.ErrorVerdict, "does not say hmem_p2p of its provider; it says tx_size=256"},
		"one rank told": {false, []string{"enabled"}, [][]results.ProviderFact{factsOf("hmem_p2p=enabled@0")},
			results.ErrorVerdict, "does not say hmem_p2p of rank 1"},
	} {
		a := &results.AssertionVerdict{Assertion: assertion.Assertion{Name: "t", Severity: assertion.Gate,
			Provider: &assertion.Provider{Fact: "hmem_p2p", Not: c.not, Values: c.values}},
			Looks: []int{len(c.launches)}}
		doc := judged(told(c.launches...), a)
		if a.Verdict != c.want || !strings.Contains(a.Message, c.says) || a.Observed != nil {
			t.Errorf("%s: %s: %s", name, a.Verdict, a.Message)
		}
		Judge(doc)
		if a.Verdict != c.want {
			t.Errorf("%s: judged again it is %s", name, a.Verdict)
		}
	}
}

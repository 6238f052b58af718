package gate

import (
	"slices"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// judgeProvider judges an assertion about a fact of the fabric's provider. It is an error if a rank that
// moved data did not read the fact back.
func (eval *evaluator) judgeProvider(c *results.Case, a *results.AssertionVerdict) outcome {
	return eval.judgeStated(c, a, launchProperty{
		words: a.Provider.String(), suffix: "reported by the library in",
		check:  func(l *results.Launch) (results.Verdict, results.Reason) { return providerMatches(a.Provider, l) },
		format: func(l *results.Launch) string { return results.ProviderText(factsNamed(l, a.Provider.Fact)) },
	})
}

// providerMatches reports whether the facts of a launch match: pass, fail, or an error.
func providerMatches(p *assertion.Provider, l *results.Launch) (results.Verdict, results.Reason) {
	fact := results.Text("fact", p.Fact)
	facts := factsNamed(l, p.Fact)
	var ranks []int
	for _, f := range facts {
		ranks = append(ranks, f.Ranks...)
	}
	switch silent := ranksWithoutFact(l, ranks); {
	case len(facts) == 0 && len(l.Provider) == 0:
		return results.ErrorVerdict, results.Because(results.FactUnknown, fact, results.Text("fabric", l.Fabric))
	case len(facts) == 0:
		return results.ErrorVerdict, results.Because(results.FactUnknown, fact, results.Text("fabric", l.Fabric),
			results.Text("says", results.ProviderText(results.ProviderFacts(l.Provider))))
	case len(silent) > 0:
		return results.ErrorVerdict, results.Because(results.FactUnknown, fact,
			results.Text("ranks", results.Transport{Ranks: silent}.RanksText()))
	}
	for _, f := range facts {
		if slices.Contains(p.Values, f.Value) == p.Not {
			return results.Fail, results.Because(results.WrongFact, results.Text("fact", f.Value),
				results.Text("ranks", results.Transport{Ranks: f.Ranks}.RanksText()))
		}
	}
	return results.Pass, results.Reason{}
}

// ranksWithoutFact returns the ranks that moved data but did not report.
func ranksWithoutFact(l *results.Launch, reported []int) []int {
	var out []int
	for _, t := range dataOf(l) {
		for _, rank := range t.Ranks {
			if !slices.Contains(reported, rank) && !slices.Contains(out, rank) {
				out = append(out, rank)
			}
		}
	}
	slices.Sort(out)
	return out
}

func factsNamed(l *results.Launch, name string) []results.ProviderFact {
	return slices.DeleteFunc(slices.Clone(l.Provider), func(f results.ProviderFact) bool {
		return f.Name != name
	})
}

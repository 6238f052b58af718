package gate

import (
	"fmt"
	"slices"

	"weir/assertion"
	"weir/results"
)

// judgeProvider judges a statement about a fact of the provider of a case's fabric. Where a
// rank that moved data did not read the fact back it is an error: nobody knows.
func (eval *evaluator) judgeProvider(c *results.Case, a *results.AssertionVerdict) outcome {
	return eval.judgeStated(c, a, launchFact{
		words: a.Provider.String(), held: "is what the library said in",
		holds: func(l *results.Launch) (results.Verdict, string) { return provides(a.Provider, l) },
		had:   func(l *results.Launch) string { return results.ProviderText(factsNamed(l, a.Provider.Fact)) },
	})
}

// provides says whether what a launch read back is as stated: pass, fail, or an error.
func provides(p *assertion.Provider, l *results.Launch) (results.Verdict, string) {
	facts := factsNamed(l, p.Fact)
	var told []int
	for _, f := range facts {
		told = append(told, f.Ranks...)
	}
	switch silent := silentRanks(l, told); {
	case len(facts) == 0 && len(l.Provider) == 0:
		return results.ErrorVerdict, fmt.Sprintf("the library of fabric %s says nothing of a provider, so not of %s",
			l.Fabric, p.Fact)
	case len(facts) == 0:
		return results.ErrorVerdict, fmt.Sprintf("the library of fabric %s does not say %s of its provider; it says %s",
			l.Fabric, p.Fact, results.ProviderText(l.Provider))
	case len(silent) > 0:
		return results.ErrorVerdict, fmt.Sprintf("the library does not say %s of %s", p.Fact,
			results.Transport{Ranks: silent}.RanksText())
	}
	for _, f := range facts {
		if slices.Contains(p.Values, f.Value) == p.Not {
			return results.Fail, fmt.Sprintf("it is %s at %s", f.Value, results.Transport{Ranks: f.Ranks}.RanksText())
		}
	}
	return results.Pass, ""
}

// silentRanks are those that moved data and are not among the ranks that told.
func silentRanks(l *results.Launch, told []int) []int {
	var out []int
	for _, t := range dataOf(l) {
		for _, rank := range t.Ranks {
			if !slices.Contains(told, rank) && !slices.Contains(out, rank) {
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

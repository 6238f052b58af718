package gate

import (
	"math/rand/v2"
	"testing"

	"github.com/weir-bench/weir/results"
)

// However many cases change by far more than sessions do, they are found, and the others are as they were.
func TestAnyShareOfCasesChanges(t *testing.T) {
	unchanged := []float64{0, -0.001, 0.002, -0.002, 0.001, 0.003, -0.001, 0, 0.001, -0.003, 0.002, 0}
	for change, want := range map[float64]results.EffectVerdict{
		-0.5: results.Regression, -0.2: results.Regression, 0.3: results.Improved, 1: results.Improved,
	} {
		for _, cases := range []int{8, 9, 12, 24} {
			for changed := 1; changed <= cases; changed++ {
				changes := make([]float64, cases)
				for i := range changes {
					changes[i] = unchanged[i%len(unchanged)]
					if i < changed {
						changes[i] = (1+change)*(1+changes[i]) - 1
					}
				}
				c := steady(t, CompareOptions{}, changes...)
				counts := c.CountByVerdict()
				if counts[want] != changed || counts[results.NoRegression] != cases-changed {
					t.Errorf("%d of %d cases change by %+.0f%%: %v", changed, cases, 100*change, counts)
				}
			}
		}
	}
}

// Half of the cases may have changed by what a session might have done to the other half: the nearer to no change
// are the unchanged.
func TestHalfOfTheCasesChangeLikeASession(t *testing.T) {
	for cases, regressions := range map[int]int{8: 4, 40: 20} {
		var changes []float64
		for i := range cases {
			changes = append(changes, []float64{0.001, -0.1, -0.001, -0.101}[i%4])
		}
		c := steady(t, CompareOptions{}, changes...)
		counts := c.CountByVerdict()
		if counts[results.Regression] != regressions || counts[results.NoRegression] != cases-regressions {
			t.Errorf("%d cases: %v", cases, counts)
		}
	}
}

// A case that improves by far hides no other that gets worse, and most of the unchanged pass.
func TestOneCaseRisesAndOneFalls(t *testing.T) {
	for _, cases := range []int{8, 9, 12, 20, 40} {
		changes := []float64{-0.2, 0.25}
		for i := range cases - 2 {
			changes = append(changes, 0.008*[]float64{-1.3, 0.9, 0.2, -0.4, 1.2, -0.6}[i%6])
		}
		counts := steady(t, CompareOptions{}, changes...).CountByVerdict()
		if counts[results.Regression] != 1 || counts[results.Improved] != 1 ||
			3*counts[results.NoRegression] < cases-2 {
			t.Errorf("%d cases: %v", cases, counts)
		}
	}
}

// Where most cases become worse together, the others differ from them, and are no improvements by that.
func TestUnchangedBesideAShiftAreNotImproved(t *testing.T) {
	p := twoSessions{cases: 40, tau: 0.005, moved: 25, by: -0.1}
	const comparisons = 60
	wrong := 0
	for seed := range uint64(comparisons) {
		base, now := p.documents(rand.New(rand.NewPCG(seed, 17)))
		c, err := Compare(base, now, CompareOptions{Margin: 0.03, Metrics: []string{"bandwidth"}})
		if err != nil {
			t.Fatal(err)
		}
		wrong += min(1, c.CountByVerdict()[results.Improved])
	}
	if wrong > comparisons/10 {
		t.Errorf("%d of %d comparisons call an unchanged case improved", wrong, comparisons)
	}
}

package move

import (
	"slices"
	"testing"
)

func TestPiecesOfIterations(t *testing.T) {
	took := make([]float64, 40)
	for i := range took {
		took[i] = 100
	}
	took[0], took[1] = 300, 500 // the first piece has two iterations
	got := PiecesOfIterations(took, 1000)
	if len(got) != piecesOfLaunch || got[0] != 2.5 || slices.Max(got) != 10 || slices.Min(got[1:]) != 10 {
		t.Errorf("pieces %v", got)
	}
	for name, none := range map[string][]float64{
		"too few iterations": PiecesOfIterations(took[:15], 1000),
		"no bytes":           PiecesOfIterations(took, 0),
	} {
		if none != nil {
			t.Errorf("%s: %v", name, none)
		}
	}
}

package engine

import (
	"fmt"

	"github.com/weir-bench/weir/workload"
)

// Changing is a Runner with ranks that intentionally end before the launch does, or start later.
type Changing interface {
	// Lives returns the successive processes of each rank. A rank without a process in a case does not take part in it.
	Lives(l Launch) ([][]Life, error)
}

// Life is one process of a rank.
type Life = workload.Life

// LivesOf returns the processes of each rank of a launch; nil: each has one, for all cases.
func LivesOf(l Launch) ([][]Life, error) {
	r, ok := runners[l.Runner].(Changing)
	if !ok {
		return nil, nil
	}
	lives, err := r.Lives(l)
	if err != nil {
		return nil, err
	}
	if len(lives) != l.Ranks {
		return nil, fmt.Errorf("processes of %d ranks for a launch of %d", len(lives), l.Ranks)
	}
	for rank, list := range lives {
		next := 0
		for _, life := range list {
			if life.First < next || life.Last < life.First || life.Last >= len(l.Cases) {
				return nil, fmt.Errorf("invalid process of rank %d: cases %d to %d of %d", rank, life.First, life.Last,
					len(l.Cases))
			}
			next = life.Last + 1
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("rank %d has no process", rank)
		}
	}
	return lives, nil
}

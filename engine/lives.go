package engine

import (
	"fmt"

	"weir/workload"
)

// Changing is a Runner of launches whose ranks have processes that end before the launch does, or
// begin later: their deaths are data and no fault.
type Changing interface {
	// Lives are the processes of each rank, one after the other. A rank without one in a case has
	// no part in it.
	Lives(l Launch) ([][]Life, error)
}

// Life is one process of a rank.
type Life = workload.Life

// LivesOf are the processes of each rank of a launch; nil: each has one, for all cases.
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
		return nil, fmt.Errorf("the processes of %d ranks, and the launch has %d", len(lives), l.Ranks)
	}
	for rank, list := range lives {
		next := 0
		for _, life := range list {
			if life.First < next || life.Last < life.First || life.Last >= len(l.Cases) {
				return nil, fmt.Errorf("a process of rank %d for cases %d to %d of %d", rank, life.First, life.Last,
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

package wire

import (
	"slices"

	"weir/engine"
	"weir/workload"
)

// Once is a launch on its way: cases that have the matrix of the one before them have
// none. A matrix may have a million cells, and all cases of a launch have the same.
func Once(l engine.Launch) engine.Launch {
	l.Cases = slices.Clone(l.Cases)
	for i := len(l.Cases) - 1; i > 0; i-- {
		if l.Cases[i].Options.Matrix == l.Cases[i-1].Options.Matrix {
			l.Cases[i].Options.Matrix = nil
		}
	}
	return l
}

// Each gives the cases of a launch that arrived their matrices back.
func Each(l *engine.Launch) {
	for i := 1; i < len(l.Cases); i++ {
		if o := &l.Cases[i].Options; o.Matrix == nil && o.Pattern == workload.MatrixPattern {
			o.Matrix = l.Cases[i-1].Options.Matrix
		}
	}
}

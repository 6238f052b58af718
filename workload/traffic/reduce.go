package traffic

import (
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

func (behaviour) Reduce(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	parts, err := move.Describe(m, l)
	if err != nil {
		return nil, err
	}
	o := *m.Spec.(*move.Spec)
	if l.Pieces, err = pieces(o, parts); err != nil {
		return nil, err
	}
	d := results.Distributions{}
	metrics, err := Metrics(o, parts, d)
	l.Distributions = d
	return metrics, err
}

// pieces returns the bandwidths in equal parts of the iterations, in order.
func pieces(o move.Spec, ranks []*move.Part) ([]float64, error) {
	movers, err := Movers(o, ranks)
	if err != nil {
		return nil, err
	}
	copiers, err := Copiers(o, ranks)
	if err != nil {
		return nil, err
	}
	latencies, _, err := Iterations(movers, copiers)
	return move.PiecesOfIterations(latencies, float64(o.Matrix.Total())), err
}

package sequence

import (
	"weir/results"
	"weir/workload"
	"weir/workload/move"
)

func reduce(m *workload.Measured, l *results.Launch) (map[string]float64, error) {
	parts, err := move.Describe(m, l)
	if err != nil {
		return nil, err
	}
	l.Played = Timeline(parts)
	d := results.Distributions{}
	metrics, err := Metrics(*m.Spec.(*move.Spec), parts, d)
	l.Distributions = d
	return metrics, err
}

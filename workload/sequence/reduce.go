package sequence

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
	l.Played = Timeline(parts)
	d := results.Distributions{}
	metrics, err := Metrics(*m.Spec.(*move.Spec), parts, d)
	l.Distributions = d
	return metrics, err
}

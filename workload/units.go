package workload

import (
	"fmt"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// Factors convert values of metrics to other units.
type Factors map[string]float64

// UnitFactors returns the factors from the units of one table to those of another, of the named metrics that differ. It
// is an error if the units of one have different dimensions, or none that weir knows.
func UnitFactors(from, to *MetricTable, names []string) (Factors, error) {
	factors := Factors{}
	for _, name := range names {
		was, measured := FindMetric(from.Definitions, name)
		is, defined := FindMetric(to.Definitions, name)
		if !measured || !defined || was.Unit == is.Unit {
			continue
		}
		a, known := quantity.UnitOf(was.Unit)
		b, alsoKnown := quantity.UnitOf(is.Unit)
		if !known || !alsoKnown || a.Dim != b.Dim {
			return nil, fmt.Errorf("metric %s was measured in %s, and is in %s now, so that its values cannot be compared",
				name, unitText(was.Unit), unitText(is.Unit))
		}
		factors[name] = a.Factor / b.Factor
	}
	return factors, nil
}

// Values returns the converted values of a launch.
func (f Factors) Values(m results.MetricValues) results.MetricValues {
	if len(f) == 0 {
		return m
	}
	values := map[string]float64{}
	for name, v := range m.All() {
		if by, ok := f[name]; ok {
			v *= by
		}
		values[name] = v
	}
	return results.ValuesOf(values)
}

// Case returns a case with the converted values of its launches.
func (f Factors) Case(c *results.Case) *results.Case {
	if len(f) == 0 {
		return c
	}
	out := *c
	out.Launches = make([]*results.Launch, len(c.Launches))
	for i, l := range c.Launches {
		one := *l
		one.Metrics = f.Values(l.Metrics)
		out.Launches[i] = &one
	}
	return &out
}

func unitText(unit string) string {
	if unit == "" {
		return "no unit"
	}
	return unit
}

package workload

import (
	"slices"

	"weir/results"
)

// FindMetric finds a metric among a workload's own, and Availability.
func FindMetric(metrics []Metric, name string) (Metric, bool) {
	if OfCase(name) {
		return Availability, true
	}
	i := slices.IndexFunc(metrics, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return metrics[i], true
}

// Table is what documents say of the workload's metrics.
func (k *Kind) Table() MetricTable {
	return MetricTable{Workload: k.Name, Definitions: k.Metrics, Columns: k.Columns}
}

// Definitions define the metrics of the cases of documents. A document has its own; cases of
// older ones, which have none, have those of the registry.
type Definitions struct {
	tables   []MetricTable
	byName   map[string]summary
	registry map[string]summary
}

// summary is what holds for a metric of a name in whichever table has it.
type summary struct{ mayBeZero, reference, declared bool }

// NewDefinitions are those of tables, of which the first that fits a case is the case's.
func NewDefinitions(tables []MetricTable) *Definitions {
	d := &Definitions{tables: tables, byName: summaries(tables)}
	var all []MetricTable
	for _, k := range kinds {
		all = append(all, k.Table())
	}
	d.registry = summaries(all)
	return d
}

// DefinitionsOf are those of documents, of which the first has precedence.
func DefinitionsOf(docs ...*results.Document) *Definitions {
	var tables []MetricTable
	for _, doc := range docs {
		tables = append(tables, doc.Metrics...)
	}
	return NewDefinitions(tables)
}

func summaries(tables []MetricTable) map[string]summary {
	out := map[string]summary{Availability.Name: {mayBeZero: Availability.MayBeZero}}
	for _, t := range tables {
		for _, m := range t.Definitions {
			s, declared := out[m.Name], false
			if t.Run != "" {
				_, builtIn := FindMetric(registered(t.Workload).Definitions, m.Name)
				declared = !builtIn
			}
			out[m.Name] = summary{s.mayBeZero || m.MayBeZero, s.reference || m.Reference, s.declared || declared}
		}
	}
	return out
}

func (d *Definitions) summary(metric string) summary {
	if s, ok := d.byName[metric]; ok {
		return s
	}
	return d.registry[metric]
}

// MayBeZero says whether 0 is a measurement of a metric as any other, in whichever table
// has it.
func (d *Definitions) MayBeZero(metric string) bool { return d.summary(metric).mayBeZero }

// Declared says whether a run declares a metric of this name, and no workload has it.
func (d *Definitions) Declared(metric string) bool { return d.summary(metric).declared }

// Reference says whether other metrics are held against a metric.
func (d *Definitions) Reference(metric string) bool { return d.summary(metric).reference }

// Of is the table of a run of a workload; an empty one where nobody knows the workload.
func (d *Definitions) Of(workload, run string) *MetricTable {
	var found *MetricTable
	for i := range d.tables {
		switch t := &d.tables[i]; {
		case t.Workload != workload:
		case t.Run == run && run != "":
			return t
		case t.Run == "" && found == nil:
			found = t
		}
	}
	if found != nil {
		return found
	}
	return registered(workload)
}

// registered is the table of a workload as this weir has it; an empty one where it has no such workload.
func registered(workload string) *MetricTable {
	t := MetricTable{Workload: workload}
	if k, ok := Lookup(workload); ok {
		t = k.Table()
	}
	return &t
}

// Metric is the definition of a metric of a case, Availability too.
func (d *Definitions) Metric(c *results.Case, name string) (Metric, bool) {
	return FindMetric(d.Of(c.Workload, c.Run).Definitions, name)
}

// Stated is the same of a document's own tables: false for a case of an older document, which has none.
func (d *Definitions) Stated(c *results.Case, name string) (Metric, bool) {
	if !slices.ContainsFunc(d.tables, func(t MetricTable) bool { return t.Workload == c.Workload }) {
		return Metric{}, false
	}
	return d.Metric(c, name)
}

package workload

import (
	"slices"

	"github.com/weir-bench/weir/results"
)

// FindMetric finds a metric by name among a workload's own and Availability.
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

// Table returns the metric table of the workload for documents.
func (k *Kind) Table() MetricTable {
	return MetricTable{Workload: k.Name, Definitions: k.Metrics, Columns: k.Show.Columns}
}

// Definitions define the metrics of the cases of documents: by the tables of the document, or by the registry for
// older documents without tables.
type Definitions struct {
	tables   []MetricTable
	byName   map[string]summary
	registry map[string]summary

	own  *MetricTable                   // of the case of In; nil: none
	find func(key string) *results.Case // nil: cases are not known
}

// summary holds the properties of a metric name over all tables that have it.
type summary struct{ mayBeZero, reference, declared bool }

// NewDefinitions makes definitions from tables. The first table that fits a case applies to it.
func NewDefinitions(tables []MetricTable) *Definitions {
	d := &Definitions{tables: tables, byName: summaries(tables)}
	var all []MetricTable
	for _, k := range kinds {
		all = append(all, k.Table())
	}
	d.registry = summaries(all)
	return d
}

// DefinitionsOf makes definitions from documents, of which the first has precedence.
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
			s, one := out[m.Name], summaryOf(&t, m)
			out[m.Name] = summary{
				s.mayBeZero || one.mayBeZero, s.reference || one.reference, s.declared || one.declared,
			}
		}
	}
	return out
}

func summaryOf(t *MetricTable, m Metric) summary {
	declared := false
	if t.Run != "" {
		_, builtIn := FindMetric(registered(t.Workload).Definitions, m.Name)
		declared = !builtIn
	}
	return summary{m.MayBeZero, m.Reference, declared}
}

// Among returns the definitions with a function that finds a case by its key.
func (d *Definitions) Among(find func(key string) *results.Case) *Definitions {
	out := *d
	out.find = find
	return &out
}

// In returns the definitions for expressions of a case: a metric without a case in them is of that case.
func (d *Definitions) In(c *results.Case) *Definitions {
	if c == nil {
		return d
	}
	out := *d
	out.own = d.Of(c.Workload, c.Run)
	return &out
}

// summary returns the properties of a metric of the case with a key ("": the own one), or else of all tables that have
// the name.
func (d *Definitions) summary(key, metric string) summary {
	t := d.own
	if key != "" && d.find != nil {
		if c := d.find(key); c != nil {
			t = d.Of(c.Workload, c.Run)
		}
	}
	if t != nil {
		if m, ok := FindMetric(t.Definitions, metric); ok {
			return summaryOf(t, m)
		}
	}
	if s, ok := d.byName[metric]; ok {
		return s
	}
	return d.registry[metric]
}

// MayBeZero reports whether 0 is a valid value of a metric of the case with a key; "": of the own case, or in any
// table.
func (d *Definitions) MayBeZero(key, metric string) bool { return d.summary(key, metric).mayBeZero }

// Declared reports whether the run of the case with a key, as for MayBeZero, declares a metric that its workload lacks.
func (d *Definitions) Declared(key, metric string) bool { return d.summary(key, metric).declared }

// Reference reports whether a metric is a reference for others, as a ceiling.
func (d *Definitions) Reference(metric string) bool { return d.summary("", metric).reference }

// Of returns the table of a run of a workload; an empty one for an unknown workload.
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

// registered returns the table of a workload in this version; an empty one for an unknown workload.
func registered(workload string) *MetricTable {
	t := MetricTable{Workload: workload}
	if k, ok := Lookup(workload); ok {
		t = k.Table()
	}
	return &t
}

// Metric finds the definition of a metric of a case, including Availability.
func (d *Definitions) Metric(c *results.Case, name string) (Metric, bool) {
	return FindMetric(d.Of(c.Workload, c.Run).Definitions, name)
}

// Stated is Metric for a document's own tables: false for a case of an older document without any.
func (d *Definitions) Stated(c *results.Case, name string) (Metric, bool) {
	if !slices.ContainsFunc(d.tables, func(t MetricTable) bool { return t.Workload == c.Workload }) {
		return Metric{}, false
	}
	return d.Metric(c, name)
}

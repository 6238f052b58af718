package importer

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving"
)

// Gate returns a scenario that measures the loads of an imported document and compares them with it: the
// brief metrics that both have may be a tenth worse. The endpoint and the model are variables.
func Gate(doc *results.Document, file string) ([]byte, error) {
	var runs mapping
	for _, c := range doc.Cases {
		if slices.ContainsFunc(runs, func(p pair) bool { return p.key == c.Run }) {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(doc.Cases), func(other *results.Case) bool { return other.Run != c.Run })
		options := mapping{{"url", expression("${var.url}")}, {"model", expression("${var.model}")}}
		if n := fewestRequests(of); n > 0 {
			options = append(options, pair{"requests", count(n)})
		}
		m := mapping{{"workload", literal(serving.Kind.Name)}, {"options", options}}
		if sweep := axesOf(of); sweep != nil {
			m = append(m, pair{"sweep", sweep})
		}
		assert := worsened(of)
		if assert == nil {
			return nil, fmt.Errorf("case %s has none of the metrics that a gate would compare", c.Key)
		}
		runs = append(runs, pair{c.Run, append(m, pair{"assert", assert})})
	}
	var b bytes.Buffer
	text := inline{{"type", literal("string")}}
	write(&b, 0, mapping{
		{"scenario", literal("against-" + doc.Scenario.Name)},
		{"description", literal("the load of an endpoint, compared with " + doc.Scenario.Description)},
		{"baseline", mapping{{"file", literal(file)}}},
		{"variables", mapping{{"url", text}, {"model", text}}},
		{"runs", runs},
	})
	src, diags := format.Format("scenario.yaml", b.Bytes())
	if diags.HasErrors() {
		return nil, fmt.Errorf("%s", diags.Error())
	}
	return src, nil
}

// axesOf returns the sweep that has exactly the cases; nil for one case without axes.
func axesOf(cases []*results.Case) mapping {
	var sweep mapping
	for _, axis := range cases[0].AxisOrder {
		var values list
		for _, c := range cases {
			values = append(values, literal(fmt.Sprint(c.Axes[axis])))
		}
		sweep = append(sweep, pair{axis, values})
	}
	if len(sweep) > 1 && len(cases) > 1 {
		return mapping{{"zip", sweep}}
	}
	return sweep
}

func fewestRequests(cases []*results.Case) int64 {
	least := int64(0)
	for _, c := range cases {
		v, ok := c.Launches[0].Metrics.Get("requests")
		if n := int64(v); ok && n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// worsened returns the assertions that no case is a tenth worse.
func worsened(cases []*results.Case) (all list) {
	names := slices.Clone(serving.Kind.Show.Brief)
	for _, column := range serving.Kind.Show.Columns {
		names = append(names, column.Metric)
	}
	for i, name := range names {
		if i == len(serving.Kind.Show.Brief) && all != nil {
			return all
		}
		m, known := serving.Kind.Metric(name)
		everywhere := known && !slices.ContainsFunc(cases, func(c *results.Case) bool {
			v, ok := c.Launches[0].Metrics.Get(name)
			return !ok || v == 0
		})
		switch {
		case !everywhere:
		case m.Better == workload.Lower:
			all = append(all, literal(name+" <= 1.1 * baseline."+name))
		case m.Better == workload.Higher:
			all = append(all, literal(name+" >= 0.9 * baseline."+name))
		}
	}
	return all
}

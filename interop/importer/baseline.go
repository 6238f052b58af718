package importer

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/serving"
)

// Gate returns a scenario that measures the loads of an imported document and compares them with it: the
// brief metrics that both have may be a tenth worse. The endpoint and the model are variables. Comments name what the
// file does not say of its loads.
func Gate(doc *results.Document, file string) ([]byte, error) {
	var runs mapping
	var unsaid []string
	for _, c := range doc.Cases {
		if slices.ContainsFunc(runs, func(p pair) bool { return p.key == c.Run }) {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(doc.Cases), func(other *results.Case) bool { return other.Run != c.Run })
		options := mapping{{"url", expression("${var.url}")}, {"model", expression("${var.model}")}}
		more, lacks := optionsOf(of)
		for _, what := range lacks {
			if !slices.Contains(unsaid, what) {
				unsaid = append(unsaid, what)
			}
		}
		m := mapping{{"workload", literal(serving.Kind.Name)}, {"options", append(options, more...)}}
		if sweep := axesOf(of); sweep != nil {
			m = append(m, pair{"sweep", sweep})
		}
		assert := worsened(of)
		if assert == nil {
			return nil, fmt.Errorf("case %s has none of the metrics that a gate would compare", c.Key)
		}
		runs = append(runs, pair{c.Run, append(m, pair{"timeout", literal(loadTimeout)}, pair{"assert", assert})})
	}
	var b bytes.Buffer
	text := inline{{"type", literal("string")}}
	variables := mapping{{"url", text}, {"model", text}}
	if len(unsaid) > 0 {
		b.WriteString("# The file of the baseline does not say this of its load, so that it is weir's default here:\n")
	}
	for _, what := range unsaid {
		fmt.Fprintf(&b, "# - %s\n", what)
		if what == unsaidRequests {
			variables = append(variables, pair{"requests", inline{{"type", literal("number")}}})
		}
	}
	write(&b, 0, mapping{
		{"scenario", literal("against-" + doc.Scenario.Name)},
		{"description", literal("the load of an endpoint, compared with " + doc.Scenario.Description)},
		{"baseline", mapping{{"file", literal(file)}}},
		{"variables", variables},
		{"runs", runs},
	})
	src, diags := format.Format("scenario.yaml", b.Bytes())
	if diags.HasErrors() {
		return nil, fmt.Errorf("%s", diags.Error())
	}
	return src, nil
}

// optionsOf returns the options of the loads of cases. One that differs between them depends on the axes.
func optionsOf(cases []*results.Case) (options mapping, unsaid []string) {
	var each []mapping
	for _, c := range cases {
		of, lacks := loadOf(c)
		each, unsaid = append(each, of), append(unsaid, lacks...)
	}
	for _, o := range serving.Kind.Options {
		var values list
		for _, of := range each {
			i := slices.IndexFunc(of, func(p pair) bool { return p.key == o.Name })
			if i < 0 {
				break
			}
			values = append(values, of[i].value)
		}
		if len(values) < len(cases) {
			continue
		}
		if v := byAxes(cases, values); v != nil {
			options = append(options, pair{o.Name, v})
		} else {
			unsaid = append(unsaid, o.Name+", in which its results differ")
		}
	}
	return options, unsaid
}

// byAxes is one value for cases with these values: an expression over the axes if they differ; nil: there is none.
func byAxes(cases []*results.Case, values list) value {
	same := !slices.ContainsFunc(values, func(v value) bool { return !reflect.DeepEqual(v, values[0]) })
	switch first := values[0].(type) {
	case inline:
		if same {
			return first
		}
		out := inline{}
		for i, p := range first {
			var of list
			for _, v := range values {
				fields := v.(inline)
				if len(fields) != len(first) || fields[i].key != p.key {
					return nil
				}
				of = append(of, fields[i].value)
			}
			out = append(out, pair{p.key, byAxes(cases, of)})
		}
		return out
	case literal:
		if same {
			return first
		}
		last := len(values) - 1
		text := fmt.Sprintf("%q", values[last])
		for i := last - 1; i >= 0; i-- {
			text = fmt.Sprintf("%s ? %q : %s", pointOf(cases[i]), values[i], text)
		}
		return expression("${" + text + "}")
	}
	if !same {
		return nil
	}
	return values[0]
}

// pointOf is the condition that holds at the axes of a case.
func pointOf(c *results.Case) string {
	var all []string
	for _, axis := range c.AxisOrder {
		text := strings.TrimSuffix(fmt.Sprint(c.Axes[axis]), "/s")
		all = append(all, "axis."+axis+" == "+text)
	}
	return strings.Join(all, " && ")
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

package reporters

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// swept are the cases of a run with these axes, each of which is measured.
func swept(names []string, values ...[]string) []*results.Case {
	cases := []*results.Case{{Axes: map[string]any{}}}
	for i, name := range names {
		var next []*results.Case
		for _, c := range cases {
			for _, v := range values[i] {
				axes := map[string]any{name: v}
				for k, old := range c.Axes {
					axes[k] = old
				}
				next = append(next, &results.Case{Axes: axes})
			}
		}
		cases = next
	}
	for _, c := range cases {
		c.AxisOrder, c.Run, c.Workload, c.Status = names, "r", "transfer", results.OK
		c.Metrics = results.NamedOf(map[string]results.MetricEstimate{
			"bandwidth": {Unit: "GB/s", N: 3, Value: 1, Median: 1},
		})
	}
	return cases
}

func counts(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint(i+1))
	}
	return out
}

// The axis of numbers with the most values runs along the charts; what is left are series, up to eight, and
// panels beyond.
func TestLayout(t *testing.T) {
	sizes := []string{"4KiB", "64KiB", "1MiB", "16MiB"}
	fabrics := []string{"shm", "tcp", "ucx"}
	for _, c := range []struct {
		what     string
		cases    []*results.Case
		axis     string
		log      bool
		panels   []string
		series   []string
		omitted  int
		inSeries int
	}{
		{"one axis", swept([]string{"block_size"}, sizes), "block_size", true, []string{""}, []string{""}, 0, 4},
		{"series", swept([]string{"fabric", "block_size"}, fabrics, sizes), "block_size", true, []string{""},
			[]string{"fabric=shm", "fabric=tcp", "fabric=ucx"}, 0, 4},
		{"the longer axis", swept([]string{"batch", "block_size"}, counts(5), sizes), "batch", false, []string{""},
			[]string{"block_size=4KiB", "block_size=64KiB", "block_size=1MiB", "block_size=16MiB"}, 0, 5},
		{"small multiples", swept([]string{"fabric", "threads", "block_size"}, fabrics, counts(5),
			append(sizes, "32MiB", "64MiB")), "block_size", true,
			[]string{"fabric=shm", "fabric=tcp", "fabric=ucx"},
			[]string{"threads=1", "threads=2", "threads=3", "threads=4", "threads=5"}, 0, 6},
		{"more than can be drawn", swept([]string{"host", "block_size"},
			strings.Fields("a b c d e f g h i j k l m n o p q r s t u v w x y z"),
			append(sizes, counts(26)...)), "block_size", true,
			[]string{"host=a", "host=b", "host=c", "host=d", "host=e", "host=f", "host=g", "host=h", "host=i", "host=j",
				"host=k", "host=l", "host=m", "host=n", "host=o", "host=p", "host=q", "host=r", "host=s", "host=t",
				"host=u", "host=v", "host=w", "host=x"}, []string{""}, 2, 30},
		{"no numbers", swept([]string{"fabric"}, fabrics), "", false, []string{""}, fabrics, 0, 1},
		{"numbers that do not vary", swept([]string{"fabric", "block_size"}, fabrics, sizes[:1]), "", false,
			[]string{""}, fabrics, 0, 1},
		{"no axes", swept(nil), "", false, []string{""}, []string{""}, 0, 1},
	} {
		l := newLayout(c.cases)
		var panels, series []string
		for _, p := range l.panels {
			panels = append(panels, p.title)
		}
		for _, s := range l.panels[0].series {
			series = append(series, s.name)
			if len(s.cases) != c.inSeries {
				t.Errorf("%s: %d points of %s", c.what, len(s.cases), s.name)
			}
		}
		if l.axis != c.axis || l.log != c.log || l.omitted != c.omitted || !slices.Equal(panels, c.panels) ||
			!slices.Equal(series, c.series) {
			t.Errorf("%s: axis %q log %v, panels %q (%d omitted), series %q", c.what, l.axis, l.log, panels, l.omitted,
				series)
		}
		if (l.note() != "") != (c.omitted > 0) {
			t.Errorf("%s: note %q", c.what, l.note())
		}
	}
}

// A series has one colour in all panels, whether or not each of them has it.
func TestSeriesAreTheSameInAllPanels(t *testing.T) {
	cases := swept([]string{"fabric", "threads", "block_size"}, []string{"shm", "tcp", "ucx"}, counts(5),
		[]string{"4KiB", "64KiB", "1MiB", "16MiB", "256MiB", "2GiB", "16GiB"})
	cases = slices.DeleteFunc(cases, func(c *results.Case) bool {
		return c.Axes["fabric"] == "tcp" && c.Axes["threads"] == "1" ||
			c.Axes["threads"] == "3" && c.Axes["block_size"] == "4KiB"
	})
	l := newLayout(cases)
	drawn, _ := someCases(l)
	for what, panels := range map[string][]panel{"charts": l.panels, "distributions": drawn} {
		if len(panels) < 3 {
			t.Fatalf("%s: %d panels", what, len(panels))
		}
		names := seriesNames(panels)
		for _, p := range panels {
			for i, s := range p.series {
				if i >= len(names) || s.name != names[i] {
					t.Errorf("%s: series %d of panel %q is %q, and the legend %q", what, i, p.title, s.name, names)
				}
			}
		}
	}
	tcp := l.panels[slices.IndexFunc(l.panels, func(p panel) bool { return p.title == "fabric=tcp" })]
	if len(tcp.series[0].cases) != 0 || len(tcp.series[1].cases) != 7 {
		t.Errorf("over tcp %d and %d cases", len(tcp.series[0].cases), len(tcp.series[1].cases))
	}
}

// seriesNames are those of the series of the first panel.
func seriesNames(panels []panel) []string {
	var out []string
	for _, s := range panels[0].series {
		if s.name != "" {
			out = append(out, s.name)
		}
	}
	return out
}

func metricLeaf(name, unit string) *assertion.Expr {
	return &assertion.Expr{Op: assertion.Metric, Metric: name, Unit: unit}
}

// The band of a metric is what its assertions leave to it, with all else as it was measured.
func TestBandOfAMetric(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	text := func(v *float64) string {
		if v == nil {
			return "open"
		}
		return fmt.Sprintf("%.6g", *v)
	}
	ratio := &assertion.Expr{
		Op: assertion.Div, Args: []*assertion.Expr{
			metricLeaf("bandwidth", "GB/s"), metricLeaf("ceiling.bandwidth", "GB/s"),
		},
	}
	inverse := &assertion.Expr{
		Op: assertion.Div, Args: []*assertion.Expr{
			{Op: assertion.Const, Value: 1 << 20}, metricLeaf("latency.p50", "s"),
		},
	}
	sum := &assertion.Expr{
		Op: assertion.Add, Args: []*assertion.Expr{metricLeaf("latency.p50", "s"), metricLeaf("latency.p99", "s")},
	}
	other := &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Case: "elsewhere"}
	for _, c := range []struct {
		what         string
		metric       string
		subject      *assertion.Expr
		unit         string
		lower, upper *float64
		want         string
	}{
		{"as it is", "bandwidth", metricLeaf("bandwidth", "GB/s"), "GB/s", number(3), number(4), "3 4"},
		{"in another unit", "bandwidth", metricLeaf("bandwidth", "GB/s"), "MB/s", number(3000), nil, "3 open"},
		{"a share of the ceiling", "bandwidth", ratio, "", number(0.2), nil, "2 open"},
		{"an inverse", "latency.p50", inverse, "GB/s", number(1), number(2), "0.000524288 0.00104858"},
		{"a sum has none", "latency.p50", sum, "s", number(1), nil, "open open"},
		{"another metric", "latency.p50", metricLeaf("bandwidth", "GB/s"), "GB/s", number(3), nil, "open open"},
		{"against which it is held", "ceiling.bandwidth", ratio, "", number(0.2), nil, "open open"},
		{"of another case", "bandwidth", other, "GB/s", number(3), nil, "open open"},
	} {
		testCase := &results.Case{Key: "k", Metrics: results.NamedOf(map[string]results.MetricEstimate{
			"bandwidth": {Unit: "GB/s", Value: 5}, "ceiling.bandwidth": {Unit: "GB/s", Value: 10},
			"latency.p50": {Unit: "s", Value: 1e-3}, "latency.p99": {Unit: "s", Value: 2e-3},
		}), Assertions: []*results.AssertionVerdict{
			{
				Assertion: assertion.Assertion{
					Severity: assertion.Gate, Subject: c.subject, Unit: c.unit,
					Bounds: assertion.Bounds{Lower: c.lower, Upper: c.upper},
				},
			},
		}}
		lower, upper := newDraft(workload.NewDefinitions(nil)).band(testCase, c.metric)
		if got := text(lower) + " " + text(upper); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

func TestMargin(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		value        float64
		unit         string
		lower, upper *float64
		want         string
	}{
		{2.188, "GB/s", number(1), number(2), "9.4% above 2 GB/s"},
		{0.5, "GB/s", number(1), number(2), "50% below 1 GB/s"},
		{1.1, "GB/s", number(1), number(2), "10% above 1 GB/s"},
		{1.9, "GB/s", number(1), number(2), "5.0% below 2 GB/s"},
		{3e-6, "s", nil, number(4e-6), "25% below 4 µs"},
		{3, "", nil, number(0), ""},
		{3, "", nil, nil, ""},
	} {
		a := &results.AssertionVerdict{Observed: &results.Observed{Value: c.value, Unit: c.unit}}
		a.Unit, a.Bounds = c.unit, assertion.Bounds{Lower: c.lower, Upper: c.upper}
		if got := margin(a); got != c.want {
			t.Errorf("%v in %s: %q, want %q", c.value, a.Lowered, got, c.want)
		}
	}
}

// Distances are from the target where there is one, of a share of a baseline from that, and what is
// inconclusive has none, as messages have it.
func TestMarginIsThatOfTheMessage(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	bandwidth := func(baseline bool) *assertion.Expr {
		return &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Baseline: baseline}
	}
	share := &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{bandwidth(false), bandwidth(true)}}
	for want, a := range map[string]*results.AssertionVerdict{
		"77% below the target 46.48 GB/s": {Observed: &results.Observed{Value: 10.7}, Assertion: assertion.Assertion{
			Unit: "GB/s", Target: number(46.48), Subject: bandwidth(false),
			Bounds: assertion.Bounds{Lower: number(41.832), Upper: number(51.128)}}},
		"24% below the baseline": {Observed: &results.Observed{Value: 0.76}, Assertion: assertion.Assertion{
			Subject: share, Bounds: assertion.Bounds{Lower: number(0.97)}}},
		"": {Verdict: results.InconclusiveVerdict, Observed: &results.Observed{Value: 10},
			Assertion: assertion.Assertion{Unit: "GB/s", Subject: bandwidth(false),
				Bounds: assertion.Bounds{Lower: number(9), Upper: number(20)}}},
	} {
		if got := margin(a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Amounts have the digits that a person reads, and all of them the same form.
func TestBytesText(t *testing.T) {
	for b, want := range map[int64]string{
		0: "0B", 1023: "1023B", 1024: "1KiB", 366830: "358.2KiB", 3648 << 10: "3.562MiB", 2158593: "2.059MiB",
		3 << 40: "3TiB",
	} {
		if got := bytesText(b); got != want {
			t.Errorf("%d: %q, want %q", b, got, want)
		}
	}
}

// Cases of which every launch failed or was discarded are counted below a chart; skipped ones are not.
func TestChartsCountCasesWithoutAUsableLaunch(t *testing.T) {
	for unusable, want := range map[int]string{
		0: "", 1: "not drawn, without a usable launch: 1 case", 2: "not drawn, without a usable launch: 2 cases",
	} {
		cases := swept([]string{"block_size"}, []string{"4KiB", "64KiB", "1MiB", "16MiB", "64MiB"})
		cases[4].Metrics, cases[4].Status = results.Named[results.MetricEstimate]{}, results.Skipped
		for _, c := range cases[:unusable] {
			c.Metrics, c.Status = results.Named[results.MetricEstimate]{}, results.Error
			c.Launches = []*results.Launch{{Status: results.Error}}
		}
		d := newDraft(workload.DefinitionsOf(&results.Document{Cases: cases}))
		f, ok := d.figure(&results.Document{}, newLayout(cases), "bandwidth")
		if !ok || f.Note != want {
			t.Errorf("%d: %v %q, want %q", unusable, ok, f.Note, want)
		}
	}
}

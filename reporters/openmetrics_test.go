package reporters

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// scraped is the report as Prometheus's own parser reads it, by family. That one
// takes the lines "# UNIT" and "# EOF" for comments; wellFormed looks at them.
func scraped(t interface {
	Helper()
	Fatalf(string, ...any)
}, doc *results.Document) map[string]*dto.MetricFamily {
	t.Helper()
	var b bytes.Buffer
	if err := OpenMetrics(&b, doc); err != nil {
		t.Fatalf("writing: %v", err)
	}
	if err := wellFormed(b.String()); err != "" {
		t.Fatalf("%s:\n%s", err, b.String())
	}
	p := expfmt.NewTextParser(model.LegacyValidation)
	families, err := p.TextToMetricFamilies(&b)
	if err != nil {
		t.Fatalf("not metrics: %v", err)
	}
	return families
}

var sampleLine = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)\{([a-zA-Z_][a-zA-Z0-9_]*="(\\["\\n]|[^"\\])*",?)*\} \S+$`)

// wellFormed holds a text to what OpenMetrics 1.0 asks beyond the older format: TYPE,
// UNIT and HELP of a family once and before its samples, which stand together; a
// family with a unit has it at the end of its name; no sample twice; # EOF ends it.
func wellFormed(text string) string {
	body, ok := strings.CutSuffix(text, "\n# EOF\n")
	if !ok {
		return "it does not end with # EOF"
	}
	family, seen, samples := "", map[string]bool{}, map[string]bool{}
	for _, line := range strings.Split(body, "\n") {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			family, _, _ = strings.Cut(rest, " ")
			if seen[family] {
				return "two families are " + family
			}
			seen[family] = true
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# UNIT "); ok {
			name, unit, _ := strings.Cut(rest, " ")
			if name != family || !strings.HasSuffix(name, "_"+unit) {
				return "unit: " + line
			}
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			if !strings.HasPrefix(rest, family+" ") || strings.Contains(rest, `"`) {
				return "help: " + line
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil || m[1] != family {
			return "sample in family " + family + ": " + line
		}
		series := line[:strings.LastIndex(line, " ")]
		if samples[series] {
			return "twice: " + series
		}
		samples[series] = true
	}
	return ""
}

func labelsOf(m *dto.Metric) map[string]string {
	out := map[string]string{}
	for _, l := range m.Label {
		out[l.GetName()] = l.GetValue()
	}
	return out
}

// Every metric of every case comes back in base units, with its interval, and as
// near to the document as its interval is wide.
func TestOpenMetricsHoldsTheDocument(t *testing.T) {
	type key struct{ run, id, estimate string }
	for _, name := range documents {
		doc := read(t, name)
		families := scraped(t, doc)
		for _, c := range []struct{ metric, family, unit string }{
			{"bandwidth", "weir_bandwidth_bytes_per_second", "GB/s"}, {"latency.p99", "weir_latency_p99_seconds", "s"},
			{"ceiling", "weir_ceiling", ""},
		} {
			factor := map[string]float64{"GB/s": 1e9, "s": 1, "": 1}[c.unit]
			got := map[key]float64{}
			for _, m := range families[c.family].GetMetric() {
				l := labelsOf(m)
				got[key{l["run"], l["case"], l["estimate"]}] = m.GetGauge().GetValue()
			}
			want := 0
			for _, x := range doc.Cases {
				e, ok := x.Metrics.Get(c.metric)
				if !ok {
					continue
				}
				near := func(estimate string, value, within float64) {
					want++
					v, ok := got[key{x.Run, x.Key, estimate}]
					if !ok || math.Abs(v-value*factor) > within*factor {
						t.Errorf("%s: %s %s of %s is %v, want %v within %v", name, estimate, c.metric, x.Key, v,
							value*factor, within*factor)
					}
				}
				if e.CI == nil {
					near("value", e.Value, e.Value/1000)
					near("median", e.Median, e.Median/1000)
					continue
				}
				half := max((e.CI[1]-e.CI[0])/2, math.Abs(e.Median)/1000)
				near("value", e.Value, half/10)
				near("median", e.Median, half/10)
				near("ci_low", e.CI[0], half)
				near("ci_high", e.CI[1], half)
			}
			if len(got) != want {
				t.Errorf("%s: %d samples of %s, want %d", name, len(got), c.family, want)
			}
		}
		if n := len(families["weir_case_verdict"].GetMetric()); n != len(doc.Cases) {
			t.Errorf("%s: %d cases have a verdict, of %d", name, n, len(doc.Cases))
		}
		if n := len(families["weir_assertion_verdict"].GetMetric()); n != len(doc.AllAssertions()) {
			t.Errorf("%s: %d assertions have a verdict, of %d", name, n, len(doc.AllAssertions()))
		}
		if v := families["weir_session_exit_code"].Metric[0].GetGauge().GetValue(); int(v) != doc.Session.ExitCode {
			t.Errorf("%s: exit code %v", name, v)
		}
	}
}

func TestBaseUnits(t *testing.T) {
	for symbol, want := range map[string]struct {
		name   string
		factor float64
	}{
		"": {"", 1}, "GB/s": {"bytes_per_second", 1e9}, "s": {"seconds", 1}, "B": {"bytes", 1},
		"1/s": {"per_second", 1}, "s/GB": {"seconds_per_byte", 1e-9}, "%": {"", 0.01}, "MiB": {"bytes", 1 << 20},
	} {
		if name, factor := baseUnit(symbol); name != want.name || factor != want.factor {
			t.Errorf("%q is %v %q", symbol, factor, name)
		}
	}
	m := &gauges{names: map[string]bool{}}
	for _, c := range [][3]string{
		{"bytes", "bytes", "weir_bytes"}, {"latency.p99", "seconds", "weir_latency_p99_seconds"},
		{"latency_p99", "seconds", "weir_latency_p99_2_seconds"},
	} {
		if got := m.add(c[0], c[1], "h").name; got != c[2] {
			t.Errorf("%s in %s is called %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// Whatever names a scenario has, the report is metrics, and Prometheus reads the
// case's own key, axes and assertions in it.
func TestNoNameBreaksOpenMetrics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.RuneFrom([]rune("a\"\\\n{},=#é_:. \x00")), 0, 8, -1))
		axes := rapid.SliceOfNDistinct(rapid.OneOf(text, rapid.SampledFrom(ownLabels)), 1, 4, rapid.ID).Draw(t, "axes")
		doc := &results.Document{
			Scenario: results.Scenario{Name: text.Draw(t, "scenario")},
			Session:  results.Session{Finished: time.Unix(5, 0)},
		}
		for _, key := range rapid.SliceOfNDistinct(text, 1, 3, rapid.ID).Draw(t, "keys") {
			c := &results.Case{
				Key: key, Run: text.Draw(t, "run"), Status: results.OK, Axes: map[string]any{}, AxisOrder: axes,
			}
			for _, a := range axes {
				c.Axes[a] = text.Draw(t, "value")
			}
			for _, m := range rapid.SliceOfNDistinct(text, 0, 3, rapid.ID).Draw(t, "metrics") {
				v := rapid.Float64Range(-1e12, 1e12).Draw(t, "median")
				c.Metrics.Set(m, results.MetricEstimate{
					Unit: rapid.SampledFrom([]string{"", "GB/s", "s", "B", "furlong"}).Draw(t, "unit"), Median: v,
					CI: &[2]float64{v - 1, v + 1},
				})
			}
			for range 2 { // of one name
				c.Assertions = append(c.Assertions, &results.AssertionVerdict{
					Assertion: assertion.Assertion{Name: text.Draw(t, "assertion"), Severity: assertion.Gate},
					Verdict:   results.Pass,
				})
			}
			doc.Cases = append(doc.Cases, c)
		}
		families := scraped(t, doc)
		names := axisLabels(axes)
		for i, m := range families["weir_case_verdict"].GetMetric() {
			got, c := labelsOf(m), doc.Cases[i]
			if got["case"] != c.Key || got["run"] != c.Run || got["scenario"] != doc.Scenario.Name ||
				got["verdict"] != "pass" {
				t.Fatalf("case %q of run %q is read as %q", c.Key, c.Run, got)
			}
			for a, v := range c.Axes {
				if got[names[a]] != v {
					t.Fatalf("axis %q=%q is read as %q", a, v, got)
				}
			}
		}
	})
}

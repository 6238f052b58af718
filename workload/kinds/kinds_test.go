package kinds_test

import (
	"fmt"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	_ "github.com/weir-bench/weir/workload/kinds"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// asked are metrics of a workload that count what an option of the same name requests.
var asked = map[string]string{"serving": "requests"}

// Every entry of the registry must be usable: a known unit, a default of its own type, a definition, a unique name.
func TestRegistryIsSound(t *testing.T) {
	for _, k := range workload.Kinds() {
		seen := map[string]bool{}
		for _, o := range k.Options {
			if seen[o.Name] || o.Doc == "" {
				t.Errorf("%s: option %q is there twice or has no words", k.Name, o.Name)
			}
			seen[o.Name] = true
			if o.Default == nil {
				if !o.Required && !o.Absent && o.RanksOf == "" && o.Item != option.OnlyItem && o.Into == "" &&
					!slices.Contains(k.OneOf, o.Name) {
					t.Errorf("%s: option %s has no default and nothing that stands for it", k.Name, o.Name)
				}
				continue
			}
			v, err := o.Parse(option.Text(o.Default))
			if err != nil || v != o.Default {
				t.Errorf("%s: default of %s reads as %#v, %v", k.Name, o.Name, v, err)
			}
		}
		for _, m := range k.Metrics {
			if seen[m.Name] && m.Name != asked[k.Name] || m.Doc == "" {
				t.Errorf("%s: metric %q is there twice, hides an option or has no definition", k.Name, m.Name)
			}
			seen[m.Name] = true
			m.Dim() // panics on an unknown unit
			u, ok := k.Behaviour.(workload.MetricExcluder)
			if !ok {
				continue
			}
			for _, name := range u.UnmeasuredBy(m.Name) {
				if !slices.Contains(k.Checked, name) {
					t.Errorf("%s: option %s decides whether there is %s, and is not of Checked", k.Name, name, m.Name)
				}
			}
		}
		mentioned := slices.Clone(k.Show.Brief)
		for _, c := range k.Show.Columns {
			mentioned = append(mentioned, c.Metric)
		}
		for _, m := range k.Metrics {
			if m.Ceiling != "" {
				mentioned = append(mentioned, m.Ceiling)
			}
		}
		for _, name := range mentioned {
			if m, ok := k.Metric(name); !ok || workload.OfCase(m.Name) {
				t.Errorf("%s: its columns, progress or ceilings name metric %q, which it has not", k.Name, name)
			}
		}
	}
	if _, ok := workload.Lookup("transfr"); ok {
		t.Error("found a workload that is none")
	}
}

// The planner calls Check once for all cases that differ only in options outside of Checked: these must not change the
// result.
func TestCheckLooksAtOptionsOfCheckedOnly(t *testing.T) {
	draw := func(rt *rapid.T, o option.Option, label string) any {
		text := map[string][]string{
			"block_size": {"1", "4KiB", "1TiB"}, "batch": {"1", "7", "1048576"}, "iterations": {"1", "3", "100"},
			"ranks": {"2", "3", "4", "9"}, "duration": {"0", "1ms"},
			"tokens": {"4", "uniform:1,9", "file"}, "hidden": {"128", "256", "200"}, "routes": {"r.npy"},
			"route_table":  {"routes:AgIBAQIBAg=="},
			"nixl_backend": {"UCX", "no name"}, "provider": {"", "tcp"},
			"matrix": {"2: 0>1=5", "3: 0>1=5,2=70000", "0 4K\n1 0"}, "matrix_file": {"m.txt"},
			"url": {"http://a", ""}, "arrivals": {"constant", "burst", "gamma:2"}, "ramp": {"", "2/s..4/s over 1s"},
			"cancel": {"", "10% after 1s"}, "phases": {`[{"ranks":"0..3"}]`, `[{"ranks":"0..3"},{"leave":"3"}]`},
			"generate": {"uniform 4KiB", "incast 1B target=3", "block_diagonal 1MiB block=2"},
		}[o.Name]
		switch {
		case text != nil && (o.Name != "tokens" || o.Words != nil):
		case o.Type == option.Enum:
			text = o.Values
		case o.Type == option.Bool:
			text = []string{"true", "false"}
		case o.Type == option.Failures:
			text = []string{"", "launch 1 rank 5 run", "10% connect"}
		case o.Type == option.Params:
			text = []string{"", "a=b", "a=b;c=d"}
		case o.Type == option.Structure:
			text = []string{"{}"}
		case o.Type == option.Data:
			text = []string{""}
		case o.Type == option.Frequency:
			text = []string{"0/s", "2/s"}
		case o.Type == option.Time:
			text = []string{quantity.Time(o.Min).String(), "1ms"}
		case o.Type == option.Rate:
			text = []string{"1B/s", "10GB/s"}
		case o.Type == option.Percent:
			text = []string{"0%", "50%"}
		default:
			some := max(o.Min, 5)
			if o.Max != 0 {
				some = min(some, o.Max)
			}
			text = []string{fmt.Sprint(o.Min), fmt.Sprint(some), fmt.Sprint(o.Max)}
		}
		text = slices.DeleteFunc(slices.Clone(text), func(s string) bool {
			_, err := o.Parse(s)
			return err != nil
		})
		v, err := o.Parse(rapid.SampledFrom(text).Draw(rt, label))
		if err != nil {
			rt.Fatalf("%s: %v", o.Name, err)
		}
		return v
	}
	for _, k := range workload.Kinds() {
		for _, o := range k.Options {
			if slices.Contains(k.Checked, o.Name) {
				continue
			}
			rapid.Check(t, func(rt *rapid.T) {
				v := option.Values{}
				if rapid.Bool().Draw(rt, "few iterations") { // which chance finds too seldom
					v["pattern"], v["ranks"], v["iterations"] = "all_to_all", int64(9), int64(7)
				}
				if len(k.OneOf) > 0 && rapid.Bool().Draw(rt, "generated") {
					generate, _ := k.Option("generate")
					v["generate"], v["ranks"] = draw(rt, generate, "generator"), int64(4)
				}
				for _, other := range k.Options {
					// mostly defaults, which are compatible
					if other.Required || rapid.IntRange(0, 4).Draw(rt, "set") == 0 {
						v[other.Name] = draw(rt, other, other.Name)
					}
				}
				for name, value := range o.Where.Options {
					v[name] = value
				}
				v[o.Name] = draw(rt, o, "one value")
				one := k.Check(v)
				v[o.Name] = draw(rt, o, "another")
				if another := k.Check(v); fmt.Sprint(one) != fmt.Sprint(another) {
					rt.Fatalf("%s is not of Checked, and with another value %v became %v", o.Name, one, another)
				}
			})
		}
	}
}

// Documents without a definition of quantiles are recognized by the percentiles of transfers: all except medians, which
// are equal by both definitions.
func TestOlderDocumentsAreDefinedDifferently(t *testing.T) {
	older := &results.Document{}
	for _, k := range workload.Kinds() {
		for _, m := range k.Metrics {
			percentile := slices.Contains([]string{"p90", "p95", "p99", "p999"},
				m.Name[strings.LastIndex(m.Name, ".")+1:])
			want := ""
			if percentile && k.Name == "transfer" {
				want = results.RoundedRankRule
			}
			if got := older.DefinitionOf(k.Name, m.Name); got != want {
				t.Errorf("%s of %s is defined as %q, want %q", m.Name, k.Name, got, want)
			}
		}
	}
}

// Rates of a steady part name their definition, so that sessions of two versions are not compared in silence.
func TestRatesOfOlderDocumentsAreNamed(t *testing.T) {
	of := func(window string) *results.Document {
		l := &results.Launch{Status: results.OK, RateWindow: window}
		l.Metrics = results.ValuesOf(map[string]float64{"request_rate": 9, "goodput": 8, "concurrency.effective": 2})
		return &results.Document{Cases: []*results.Case{{Workload: "serving", Launches: []*results.Launch{l}}}}
	}
	d := results.DefinitionDifferences(of("steady"), of("steady_ends"))
	what := "definition of concurrency.effective, request_rate, goodput"
	if len(d) != 1 || d[0].What != what || d[0].Base == d[0].New {
		t.Errorf("%+v", d)
	}
	for _, window := range []string{"steady_ends", "whole", ""} {
		if d := results.DefinitionDifferences(of(window), of("steady_ends")); len(d) > 0 {
			t.Errorf("%q: %+v", window, d)
		}
	}
}

package expression

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload/transfer"
)

var names = &Names{
	Kind: transfer.Kind, Axes: []Axis{
		{Name: "block_size"}, {Name: "share", Type: Number}, {Name: "env.FI_PROVIDER"}, {Name: "fast", Type: Flag},
	},
}

// scope is a case of the tests.
func scope() Scope {
	return Scope{
		Options: option.Values{
			"block_size": quantity.Size(64 << 20), "batch": int64(4), "fabric": "ucx", "op": "write", "ranks": int64(2),
		},
		Axes: map[string]any{
			"block_size": quantity.Size(64 << 20), "share": 0.5, "env.FI_PROVIDER": "efa", "fast": true,
		},
	}
}

func lower(t *testing.T, text string) assertion.Assertion {
	t.Helper()
	a, err := names.Assertion(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	out, err := a.Lower(scope())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func TestLoweredForms(t *testing.T) {
	for text, want := range map[string]string{
		"bandwidth within 10% of 46.48 GB/s":        "bandwidth in [41.832, 51.128] GB/s",
		"bandwidth within 10% of 46.48":             "bandwidth in [41.832, 51.128] GB/s",
		"bandwidth within 0.1 of 46480 MB/s":        "bandwidth in [41.832, 51.128] GB/s",
		"bandwidth within 10% of 400Gb/s":           "bandwidth in [45, 55] GB/s",
		"bandwidth between 1 GiB/s and 2 GiB/s":     "bandwidth in [1.073741824, 2.147483648] GB/s",
		"bandwidth >= 40":                           "bandwidth in [40, ∞) GB/s",
		"40 GB/s <= bandwidth":                      "bandwidth in [40, ∞) GB/s",
		"40 > bandwidth":                            "bandwidth in (-∞, 40) GB/s",
		"latency.avg <= 60us":                       "latency.avg in (-∞, 60] µs",
		"latency.p99 < 1.5":                         "latency.p99 in (-∞, 1.5) s",
		"latency.p50 between 900ns and 1.1us":       "latency.p50 in [0.9, 1.1] µs",
		"message_rate >= 2e6":                       "message_rate in [2000000, ∞) 1/s",
		"message_rate >= 1000 1/s":                  "message_rate in [1000, ∞) 1/s",
		"message_rate >= 1000/s":                    "message_rate in [1000, ∞) 1/s",
		"ceiling >= 90%":                            "ceiling in [0.9, ∞)",
		"bandwidth within 10% of ceiling.bandwidth": "bandwidth / ceiling.bandwidth in [0.9, 1.1]",
		"bandwidth >= 0.2 * ceiling.bandwidth":      "bandwidth / ceiling.bandwidth in [0.2, ∞)",
		"bandwidth >= ceiling.bandwidth * 20%":      "bandwidth / ceiling.bandwidth in [0.2, ∞)",
		"bandwidth >= ceiling.bandwidth / 4":        "bandwidth / ceiling.bandwidth in [0.25, ∞)",
		"2 * bandwidth <= 3 * ceiling.bandwidth":    "bandwidth / ceiling.bandwidth in (-∞, 1.5]",

		"bandwidth between 0.5 * ceiling.bandwidth and ceiling.bandwidth": "bandwidth / ceiling.bandwidth in [0.5, 1]",

		"bandwidth.min_rank >= 0.8 * bandwidth / ranks": "bandwidth.min_rank / bandwidth in [0.4, ∞)",
		"bandwidth / ceiling.bandwidth >= 0.9":          "bandwidth / ceiling.bandwidth in [0.9, ∞)",
		"latency.p99 - latency.p50 <= latency.avg":      "(latency.p99 - latency.p50) / latency.avg in (-∞, 1]",
		"latency.p99 <= 2 * (latency.p50 + 1us)":        "latency.p99 / (latency.p50 + 1e-06) in (-∞, 2]",
		"bandwidth >= block_size / 1ms":                 "bandwidth in [67.108864, ∞) GB/s",
		"bandwidth * share >= 10 GB/s":                  "bandwidth * 0.500000 in [10, ∞) GB/s",
		"bandwidth - ceiling.bandwidth >= -1 GB/s":      "bandwidth - ceiling.bandwidth in [-1, ∞) GB/s",
		"bandwidth increases with block_size":           "bandwidth increases with block_size",
		"latency.avg decreases with share within 2.5%":  "latency.avg decreases with share, steps back of up to 2.5% allowed",
		"bandwidth>=40":       "bandwidth in [40, ∞) GB/s",
		"(bandwidth) >= (40)": "bandwidth in [40, ∞) GB/s",
	} {
		if got := lower(t, text); got.Lowered != want || got.Text != text {
			t.Errorf("%s\n got %s\nwant %s", text, got.Lowered, want)
		}
	}
}

func TestLoweredDataIsExact(t *testing.T) {
	got := lower(t, "bandwidth within 10% of 0.5 * ceiling.bandwidth where block_size >= 1MiB")
	low, high, target := 0.45, 0.55, 0.5
	want := assertion.Assertion{
		Text: got.Text, Lowered: "bandwidth / ceiling.bandwidth in [0.45, 0.55]",
		Subject: &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{
			{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"}, {
				Op: assertion.Metric, Metric: "ceiling.bandwidth", Unit: "GB/s",
			},
		}},
		Bounds: assertion.Bounds{Lower: &low, Upper: &high}, Target: &target, Compared: true,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	trend := lower(t, "bandwidth increases with block_size within 2%")
	if d := cmp.Diff(&assertion.Trend{Axis: "block_size", Direction: "increases", Tolerance: 0.02},
		trend.Trend); d != "" || trend.Bounds != (assertion.Bounds{}) || trend.Unit != "GB/s" {
		t.Error(d, trend)
	}
}

// The lowered bounds accept exactly the values for which the text is true.
func TestLoweringKeepsTheMeaning(t *testing.T) {
	metrics := map[string]float64{
		"bandwidth": 10, "bandwidth.min_rank": 4, "ceiling.bandwidth": 20, "latency.avg": 2e-6, "latency.p50": 1e-6,
		"latency.p99": 5e-6, "ceiling": 0.5, "message_rate": 100,
	}
	for text, want := range map[string]bool{
		"bandwidth >= 0.5 * ceiling.bandwidth":                                 true,
		"bandwidth >= 0.51 * ceiling.bandwidth":                                false,
		"0.51 * ceiling.bandwidth <= bandwidth":                                false,
		"2 * bandwidth <= ceiling.bandwidth":                                   true,
		"2 * bandwidth < 0.99 * ceiling.bandwidth":                             false,
		"bandwidth within 1% of ceiling.bandwidth / 2":                         true,
		"bandwidth within 1% of ceiling.bandwidth - bandwidth":                 true,
		"latency.p99 <= 5 * latency.p50":                                       true,
		"latency.p99 - latency.p50 <= 4us":                                     true,
		"latency.p99 - latency.p50 <= 3.9us":                                   false,
		"bandwidth * latency.avg >= 20 kB":                                     true,
		"bandwidth * latency.avg >= 21 kB":                                     false,
		"bandwidth between 0.4 * ceiling.bandwidth and 10 * ceiling.bandwidth": true,
		"ceiling between 40% and 60%":                                          true,
		"bandwidth / ranks >= 5":                                               true,
		"bandwidth / ranks >= 5.01":                                            false,
	} {
		a := lower(t, text)
		v, err := a.Subject.Eval(func(name string) (float64, bool) { v, ok := metrics[name]; return v, ok }, a.Unit)
		if err != nil {
			t.Fatal(text, err)
		}
		v = quantity.Round(v)
		holds := (a.Bounds.Lower == nil || v >= *a.Bounds.Lower) && (a.Bounds.Upper == nil || v <= *a.Bounds.Upper)
		if holds != want {
			t.Errorf("%s: %v in %s is %v", text, v, a.Lowered, holds)
		}
	}
}

func TestErrorsNameTheCharacters(t *testing.T) {
	for text, want := range map[string]string{
		"bandwith >= 5":                          "bandwith",
		"bandwidth >= ümlaut":                    "ümlaut",
		"µs >= 5":                                "µs",
		"bandwidth >= 5 µs where op == 'write'":  "5 µs",
		"bandwidth >= 5 where blok == 4KiB":      "blok",
		"bandwidth within 10% of latency.p5":     "latency.p5",
		"bandwidth >= 46.48 GBit/s":              "GBit",
		"bandwidth >= 5 where block_size == '5'": "'5'",
		"bandwidth >= 5 * * 2":                   "*",
		"bandwidth >= 5 where (op == 'write'":    "'",
	} {
		_, err := names.Assertion(text)
		if err == nil {
			t.Errorf("%s compiles", text)
			continue
		}
		if got := string([]rune(text)[err.From:err.To]); got != want {
			t.Errorf("%s: the error is at %q, want %q: %v", text, got, want, err)
		}
	}
}

func TestWhereChoosesCases(t *testing.T) {
	for text, want := range map[string]bool{
		"block_size == 64MiB": true, "block_size > 64MiB": false, "block_size in [4KiB, 64MiB]": true,
		"block_size == 67108864":            true,
		"fabric == 'ucx' && batch * 2 == 8": true, "not (op == \"read\")": true, "share == 50%": true,
		"batch in 1..4": true, "batch % 2 == 1": false,
		"env.FI_PROVIDER == 'efa' and fast": true, "block_size * batch <= 256 MiB": true, "let n = batch; n > 3": true,
		"fabric matches '^u'": true,
	} {
		a, err := names.Assertion("bandwidth >= 1 where " + text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := a.Where().Eval(scope()); got != want || err != nil {
			t.Errorf("%s = %v, %v", text, got, err)
		}
		if a.Where().Text() != text {
			t.Errorf("text %q", a.Where().Text())
		}
	}
}

func TestConditionsOfAPlan(t *testing.T) {
	c, err := CompileCondition("fabric in host.fabrics && host.gpus >= 1 && block_size <= 64MiB")
	if err != nil || !c.UsesHost() {
		t.Fatal(err)
	}
	s := scope()
	if _, err := c.Eval(s); err == nil {
		t.Error("a condition on the host was decided without one")
	}
	s.Host = &Host{Fabrics: []string{"shm", "ucx"}, GPUs: 1}
	if ok, err := c.Eval(s); !ok || err != nil {
		t.Error(ok, err)
	}
	s.Host.Fabrics = []string{"shm"}
	if ok, err := c.Eval(s); ok || err != nil {
		t.Error(ok, err)
	}
	for text, want := range map[string]string{
		"fabrik == 'ucx'": "no fabrik", "batch": "bool", "host.disks > 1": "no host.disks",
		"batch / op > 1": "condition",
	} {
		c, err := CompileCondition(text)
		if err != nil {
			t.Fatal(text, err)
		}
		if _, err := c.Eval(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := CompileCondition("batch >"); err == nil || !strings.Contains(err.Error(), "character") {
		t.Error(err)
	}
}

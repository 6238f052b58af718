package expression

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results/assertion"
)

// lowerAll lowers an assertion of the run main as the planner does. Each line has the lowered text,
// after its case or before its cases.
func lowerAll(t *testing.T, n *Names, c *sweptCases, text string) []string {
	t.Helper()
	a, err := n.Assertion(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var lines []string
	if a.Grouping() == PerCase {
		for _, s := range c.in("main", a.Where()) {
			out, err := a.Lower(s)
			if err != nil {
				t.Fatalf("%s: %s: %v", text, s.Key, err)
			}
			lines = append(lines, short(s.Key+": "+out.Lowered))
		}
		return lines
	}
	for _, g := range c.groups(a) {
		out, err := a.LowerOver(g)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if out.Text != text {
			t.Errorf("text %q of %q", out.Text, text)
		}
		lines = append(lines, short(out.Lowered+" of "+strings.Join(out.Cases, " ")))
	}
	return lines
}

// short abbreviates the axes of keys.
func short(line string) string {
	return strings.NewReplacer("block_size=4KiB", "S", "block_size=64MiB", "L", "fabric=", "", "threads=", "", "op=",
		"").Replace(line)
}

func TestLoweringOverCases(t *testing.T) {
	n, c := rich()
	all := "main[S,shm] main[S,ucx] main[L,shm] main[L,ucx]"
	for text, want := range map[string][]string{
		"bandwidth >= 0.5 * max(bandwidth over fabric)": {
			"main[S,shm]: bandwidth / max(bandwidth, bandwidth@main[S,ucx]) in [0.5, ∞)",
			"main[S,ucx]: bandwidth / max(bandwidth@main[S,shm], bandwidth) in [0.5, ∞)",
			"main[L,shm]: bandwidth / max(bandwidth, bandwidth@main[L,ucx]) in [0.5, ∞)",
			"main[L,ucx]: bandwidth / max(bandwidth@main[L,shm], bandwidth) in [0.5, ∞)",
		},
		"bandwidth >= 0.5 * max(bandwidth over fabric, block_size) where fabric == 'ucx'": {
			"main[S,ucx]: bandwidth / max(bandwidth, bandwidth@main[L,ucx]) in [0.5, ∞)",
			"main[L,ucx]: bandwidth / max(bandwidth@main[S,ucx], bandwidth) in [0.5, ∞)",
		},
		`geomean(bandwidth) / geomean(run("tcp").bandwidth) >= 1.2 where fabric == 'shm'`: {
			"geomean(bandwidth@main[S,shm], bandwidth@main[L,shm]) / geomean(bandwidth@tcp[S], bandwidth@tcp[L]) in [1.2, ∞) of main[S,shm] main[L,shm] tcp[S] tcp[L]",
		},
		`geomean(bandwidth over cases) >= 1.2 * geomean(run("tcp").bandwidth) where fabric == 'shm'`: {
			"geomean(bandwidth@main[S,shm], bandwidth@main[L,shm]) / geomean(bandwidth@tcp[S], bandwidth@tcp[L]) in [1.2, ∞) of main[S,shm] main[L,shm] tcp[S] tcp[L]",
		},
		`run("tcp").latency.p50 + 2us >= latency.p50 where block_size == 4KiB`: {
			"main[S,shm]: (latency.p50@tcp[S] + 2e-06) / latency.p50 in [1, ∞)",
			"main[S,ucx]: (latency.p50@tcp[S] + 2e-06) / latency.p50 in [1, ∞)",
		},
		`bandwidth >= 0.9 * run("single").bandwidth where block_size == 4KiB`: {
			"main[S,shm]: bandwidth / bandwidth@single in [0.9, ∞)",
			"main[S,ucx]: bandwidth / bandwidth@single in [0.9, ∞)",
		},
		`bandwidth >= 0.9 * run("wide", threads == 2 and op == "read").bandwidth where fabric == "shm"`: {
			"main[S,shm]: bandwidth / bandwidth@wide[S,read,2] in [0.9, ∞)",
			"main[L,shm]: bandwidth / bandwidth@wide[L,read,2] in [0.9, ∞)",
		},
		`bandwidth >= 0.9 * max(run("wide", op == "read").bandwidth over threads) where fabric == 'shm' && block_size > 1MiB`: {
			"main[L,shm]: bandwidth / max(bandwidth@wide[L,read,1], bandwidth@wide[L,read,2], bandwidth@wide[L,read,4]) in [0.9, ∞)",
		},
		`bandwidth >= max(run("wide").bandwidth) where fabric == 'shm' && block_size > 1MiB`: {
			"main[L,shm]: bandwidth / max(bandwidth@wide[L,write,1], bandwidth@wide[L,read,1], … 6 values) in [1, ∞)",
		},
		"ratio(bandwidth, ceiling.bandwidth) within 10% of 0.9 where block_size == 4KiB": {
			"main[S,shm]: bandwidth / ceiling.bandwidth in [0.81, 0.99]",
			"main[S,ucx]: bandwidth / ceiling.bandwidth in [0.81, 0.99]",
		},
		"bandwidth within 5% of reference.bandwidth": {
			"main[S,shm]: bandwidth in [9.5, 10.5] GB/s",
			"main[S,ucx]: bandwidth in [4.75, 5.25] GB/s",
			"main[L,shm]: bandwidth in [44.156, 48.804] GB/s",
			"main[L,ucx]: bandwidth in [44.156, 48.804] GB/s",
		},
		"bandwidth >= 0.97 * baseline.bandwidth where block_size == 4KiB": {
			"main[S,shm]: bandwidth / baseline.bandwidth in [0.97, ∞)",
			"main[S,ucx]: bandwidth / baseline.bandwidth in [0.97, ∞)",
		},
		"median(latency.p99 over fabric) <= 3 * min(latency.p50)": {
			"median(latency.p99@main[S,shm], latency.p99@main[S,ucx]) / min(latency.p50@main[S,shm], latency.p50@main[S,ucx], latency.p50@main[L,shm], latency.p50@main[L,ucx]) in (-∞, 3] of " +
				all,
			"median(latency.p99@main[L,shm], latency.p99@main[L,ucx]) / min(latency.p50@main[S,shm], latency.p50@main[S,ucx], latency.p50@main[L,shm], latency.p50@main[L,ucx]) in (-∞, 3] of main[L,shm] main[L,ucx] main[S,shm] main[S,ucx]",
		},
		// Each aggregate leaves the other's axis free, so each case is judged by itself.
		"mean(latency.p99 over fabric) <= 3 * mean(latency.p50 over block_size) where block_size == 4KiB": {
			"main[S,shm]: mean(latency.p99, latency.p99@main[S,ucx]) / mean(latency.p50) in (-∞, 3]",
			"main[S,ucx]: mean(latency.p99@main[S,shm], latency.p99) / mean(latency.p50) in (-∞, 3]",
		},
		`mean(bandwidth over fabric) >= run("tcp").bandwidth`: {
			"mean(bandwidth@main[S,shm], bandwidth@main[S,ucx]) / bandwidth@tcp[S] in [1, ∞) of main[S,shm] main[S,ucx] tcp[S]",
			"mean(bandwidth@main[L,shm], bandwidth@main[L,ucx]) / bandwidth@tcp[L] in [1, ∞) of main[L,shm] main[L,ucx] tcp[L]",
		},
		`mean(bandwidth / run("tcp").bandwidth over fabric) >= 0.9 where block_size == 4KiB`: {
			"mean(bandwidth@main[S,shm] / bandwidth@tcp[S], bandwidth@main[S,ucx] / bandwidth@tcp[S]) in [0.9, ∞) of main[S,shm] main[S,ucx] tcp[S]",
		},
		"max(bandwidth / reference.bandwidth over fabric) >= 0.9 where block_size == 4KiB": {
			"max(bandwidth@main[S,shm] / 1e+10, bandwidth@main[S,ucx] / 5e+09) in [0.9, ∞) of main[S,shm] main[S,ucx]",
		},
		// Values in an aggregate over other cases are those of these cases.
		"bandwidth / block_size >= 0.1 * max(bandwidth / block_size over block_size) where fabric == 'shm'": {
			"main[S,shm]: bandwidth / max(bandwidth / 4096, bandwidth@main[L,shm] / 67108864) in [409.6, ∞)",
			"main[L,shm]: bandwidth / max(bandwidth@main[S,shm] / 4096, bandwidth / 67108864) in [6710886.4, ∞)",
		},
		"min(bandwidth over fabric) >= block_size / 1ms": {
			"min(bandwidth@main[S,shm], bandwidth@main[S,ucx]) in [0.004096, ∞) GB/s of main[S,shm] main[S,ucx]",
			"min(bandwidth@main[L,shm], bandwidth@main[L,ucx]) in [67.108864, ∞) GB/s of main[L,shm] main[L,ucx]",
		},
		"geomean(bandwidth / baseline.bandwidth over fabric) >= 0.97 where block_size == 4KiB": {
			"geomean(bandwidth@main[S,shm] / baseline.bandwidth, bandwidth@main[S,ucx] / baseline.bandwidth) in [0.97, ∞) of main[S,shm] main[S,ucx]",
		},
		"all(bandwidth >= 40, latency.p99 <= 60us) where fabric == 'shm'": {
			"all of 2 cases: bandwidth in [40, ∞) GB/s; latency.p99 in (-∞, 60] µs of main[S,shm] main[L,shm]",
		},
		"any(bandwidth >= 0.9 * baseline.bandwidth, bandwidth within 5% of reference.bandwidth) where fabric == 'shm' && block_size < 1MiB": {
			"any of 1 case: bandwidth / baseline.bandwidth in [0.9, ∞); bandwidth in [9.5, 10.5] GB/s of main[S,shm]",
		},
		"any(bandwidth >= block_size / 1ms)": {
			"any of 4 cases: bandwidth@main[S,shm] in [0.004096, ∞) GB/s; bandwidth@main[S,ucx] in [0.004096, ∞) GB/s; bandwidth@main[L,shm] in [67.108864, ∞) GB/s; … 4 relations of " +
				all,
		},
	} {
		if d := cmp.Diff(want, lowerAll(t, n, c, text)); d != "" {
			t.Errorf("%s\n%s", text, d)
		}
	}
}

// The data of a quantified assertion: a part for each case and relation, and the key of the case at
// every metric.
func TestQuantifiedData(t *testing.T) {
	n, c := rich()
	a, err := n.Assertion("all(bandwidth >= 40, latency.p99 <= 2 * latency.p50) where fabric == 'shm'")
	if err != nil {
		t.Fatal(err)
	}
	got, err := a.LowerOver(c.groups(a)[0])
	if err != nil {
		t.Fatal(err)
	}
	forty, two := 40., 2.
	var parts []assertion.Part
	var keys []string
	for _, size := range []string{"4KiB", "64MiB"} {
		key := fmt.Sprintf("main[block_size=%s,fabric=shm]", size)
		keys = append(keys, key)
		metric := func(name, unit string) *assertion.Expr {
			return &assertion.Expr{Op: assertion.Metric, Metric: name, Unit: unit, Case: key}
		}
		parts = append(parts,
			assertion.Part{
				Subject: metric("bandwidth", "GB/s"), Unit: "GB/s", Bounds: assertion.Bounds{Lower: &forty}, Case: key,
			},
			assertion.Part{
				Subject: &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{metric("latency.p99", "s"),
					metric("latency.p50", "s")}}, Bounds: assertion.Bounds{Upper: &two}, Case: key,
				Compared: true,
			})
	}
	want := assertion.Assertion{
		Text: a.Text(), Quantifier: "all", Parts: parts, Cases: keys,
		Lowered: "all of 2 cases: bandwidth in [40, ∞) GB/s; latency.p99 / latency.p50 in (-∞, 2]",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestBaselineLeavesNameTheirCase(t *testing.T) {
	n, c := rich()
	a, err := n.Assertion("bandwidth >= 0.97 * baseline.bandwidth")
	if err != nil {
		t.Fatal(err)
	}
	s := c.byKey["main[block_size=4KiB,fabric=shm]"]
	got, err := a.Lower(s)
	if err != nil {
		t.Fatal(err)
	}
	want := &assertion.Expr{Op: assertion.Div, Args: []*assertion.Expr{
		{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
		{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s", Case: s.Key, Baseline: true},
	}}
	if d := cmp.Diff(want, got.Subject); d != "" || got.Cases != nil {
		t.Error(d, got.Cases)
	}
}

func TestGroupingAndUses(t *testing.T) {
	n, _ := rich()
	for text, want := range map[string]struct {
		grouping Grouping
		over     []string
		uses     Uses
	}{
		"bandwidth >= 5": {PerCase, nil, Uses{}},
		"bandwidth >= batch * 1 GB/s where fabric == 'shm' && batch > 1": {PerCase, nil,
			Uses{Knobs: []string{"fabric", "batch"}}},
		"bandwidth increases with block_size":  {AlongAxis, nil, Uses{}},
		"max(bandwidth) >= 5":                  {OverCases, nil, Uses{Others: true}},
		"max(bandwidth over fabric) >= 5":      {OverCases, []string{"fabric"}, Uses{Others: true}},
		"bandwidth >= 0.5 * max(bandwidth)":    {PerCase, nil, Uses{Others: true}},
		"max(bandwidth) >= baseline.bandwidth": {PerCase, nil, Uses{Others: true, Baseline: true}},

		"max(bandwidth over fabric, block_size) >= 2 * min(bandwidth over fabric)": {OverCases, []string{"fabric"},
			Uses{Others: true}},
		"max(bandwidth over fabric) >= 2 * min(bandwidth over block_size)": {PerCase, nil, Uses{Others: true}},

		`bandwidth + run("tcp").bandwidth >= run("single").bandwidth + max(run("tcp").bandwidth)`: {PerCase, nil,
			Uses{Runs: []string{"tcp", "single"}}},

		"all(bandwidth >= reference.bandwidth)": {OverCases, nil, Uses{Knobs: []string{"block_size", "fabric", "op"}}},
	} {
		a, err := n.Assertion(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if a.Grouping() != want.grouping || !slices.Equal(a.OverAxes(), want.over) {
			t.Errorf("%s: grouping %v over %v", text, a.Grouping(), a.OverAxes())
		}
		if d := cmp.Diff(want.uses, a.Uses()); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
	c, err := n.When("batch > 1 || batch in [ranks, host.gpus]")
	if err != nil || !slices.Equal(c.Names(), []string{"batch", "ranks", "host.gpus"}) {
		t.Error(c.Names(), err)
	}
}

package main

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"pgregory.net/rapid"

	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// Whatever scenarios, runs and axes are called and cover, what calibrate writes is read
// back by the language, row by row and with its values.
func TestReferencesAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom([]string{
			"plain", "yes", "1.10", "0x1F", "a b", `"quoted"`, "it's", "{a: b}", "# no comment", "é 日本", "<tag>&",
			"null", "~", "-", "a: b", "100%",
		})
		name := rapid.SampledFrom([]string{"s", "nightly ${var.x}", "%{if}", "tab\there", "line\nbreak", "\x1b[31m",
			"\u2028", "'", "\\"}).Draw(t, "name")
		value := rapid.Float64Range(1e-3, 1e3).Draw(t, "value")
		c := &results.Calibration{
			Scenario: name, Sessions: []results.Calibrated{{File: name, Session: name, Started: time.Unix(0, 0)}},
		}
		axis := rapid.SliceOfNDistinct(text, 1, 4, rapid.ID).Draw(t, "values")
		var sweep []string
		for i, v := range axis {
			c.Targets = append(c.Targets, &results.Target{
				Case: name + v, Run: "a", Axes: map[string]any{"kind": v, "batch": float64(4)},
				AxisOrder: []string{"batch", "kind"},

				Metric: "bandwidth", Unit: "GB/s", Value: value + float64(i), Sessions: 2, Launches: 6, Tolerance: 0.05,
			})
			sweep = append(sweep, strconv.Quote(v))
		}
		var references bytes.Buffer
		if err := reporters.References(&references, c); err != nil {
			t.Fatal(err)
		}
		src := fmt.Sprintf("scenario: s\nreferences: r.yaml\nruns:\n  a:\n    workload: transfer\n    options: {block_size: 4KiB}\n    env: {KIND: '${axis.kind}'}\n"+
			"    sweep: {batch: [4], kind: [%s]}\n    assert: [bandwidth >= reference.bandwidth]\n",
			strings.Join(sweep, ", "))
		s, _, diags := dsl.Load("main.yaml", []byte(src), dsl.Options{
			Read: func(string) ([]byte, error) { return references.Bytes(), nil },
		})
		var table *planner.Table
		if !diags.HasErrors() {
			var more hcl.Diagnostics
			table, more = planner.Tabulate(s)
			diags = append(diags, more...)
		}
		if diags.HasErrors() {
			t.Fatalf("%v\n%s\n%s", diags, references.String(), src)
		}
		plan := table.Plan()
		if len(plan.Cases) != len(axis) {
			t.Fatalf("%d cases of %v", len(plan.Cases), axis)
		}
		for i, k := range plan.Cases {
			lower := *k.Assertions[0].Bounds.Lower
			if want := value + float64(i); math.Abs(lower/want-1) > 1e-4 {
				t.Fatalf("%s: the bound is %v, want %v\n%s", k.Key, lower, want, references.String())
			}
		}
	})
}

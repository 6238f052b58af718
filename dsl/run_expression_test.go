package dsl

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/placeholder"
)

// deferredEnv returns the variable V of run b, which uses values of run a, at batch 4.
func deferredEnv(t *testing.T, expression string) (string, error) {
	t.Helper()
	src := fmt.Sprintf(`
scenario: s
variables: {share: {default: 0.5}, word: {default: "a ${b}"}}
variants: {m: {n: '${run("a").requests}'}}
runs:
  a: {workload: transfer, options: {fabric: sim, block_size: 4KiB}}
  b:
    workload: transfer
    options: {fabric: sim, block_size: 4KiB}
    sweep: {batch: [4], variant: [m]}
    env: {V: '%s', W: "${axis.batch}", X: "${variant.n}"}
`, strings.ReplaceAll(expression, "'", "''"))
	src = strings.Replace(src, `"a ${b}"`, `"a $${b}"`, 1)
	s, _, diags := Load("s.yaml", []byte(src), Options{Env: testEnv})
	if diags.HasErrors() {
		return "", diags
	}
	for _, setting := range s.Runs[1].Settings() {
		if setting.Name != "V" {
			continue
		}
		var at []AxisValue
		for _, a := range setting.Axes {
			at = append(at, s.Runs[1].Axes[a].Values[0])
		}
		v, diags := setting.Value(at)
		if diags.HasErrors() {
			return "", diags
		}
		text, ok := v.(option.Deferred)
		if !ok {
			t.Fatalf("%s is %T", expression, v)
		}
		return string(text), nil
	}
	t.Fatal("no V")
	return "", nil
}

// Known values are computed when the scenario is loaded, the others when the other run is decided;
// the result equals that of the expression with all values.
func TestExpressionsOverValuesOfRuns(t *testing.T) {
	numbers := map[string]float64{"bandwidth": 41.3, "latency.p50": 1.5, "requests": 100}
	value := func(v *RunValue) (float64, error) {
		n, ok := numbers[v.Metric]
		if v.Run != "a" || !ok {
			return 0, errors.New("no such value")
		}
		return n, nil
	}
	const same = "as it is written"
	for expression, want := range map[string][2]string{ // in the plan, and in the launch
		`${run("a").bandwidth}`:                                  {same, "41.3"},
		`${0.8 * run("a").bandwidth}/s`:                          {same, "33.04/s"},
		`$$ ${run("a").requests} $${x}`:                          {`$$$$ ${run("a").requests} $${x}`, "$$ 100 ${x}"},
		`${var.share * run("a").requests}`:                       {`${0.5 * run("a").requests}`, "50"},
		`${axis.batch}:${run("a").requests}`:                     {`4:${run("a").requests}`, "4:100"},
		`${run("a").requests % 7 - -axis.batch}`:                 {`${run("a").requests % 7 - -4}`, "6"},
		`${floor((run("a").bandwidth + 1) / (var.share * 4))}`:   {`${floor((run("a").bandwidth + 1) / 2)}`, "21"},
		`${max(run("a").requests, size("4KiB"), axis.batch)}`:    {`${max(run("a").requests, 4096, 4)}`, "4096"},
		`${run("a").bandwidth > 40 && true ? "fast" : var.word}`: {"", ""},
		`${run("a").bandwidth > 40 ? "fast" : "slow"}`:           {same, "fast"},
		`${!(run("a").bandwidth > 40) ? 1 : 2}`:                  {same, "2"},
		`${1e-6 * run("a").latency.p50}`:                         {`${0.000001 * run("a").latency.p50}`, "0.0000015"},
		`${run("a").requests - run("a").requests}`:               {same, "0"},
		`${format("%05.1f", run("a").bandwidth)}`:                {same, "041.3"},
		`${variant.n}`: {`${run("a").requests}`, "100"},
	} {
		text, err := deferredEnv(t, expression)
		if want[1] == "" {
			if err == nil || !strings.Contains(err.Error(), "contains a }") {
				t.Errorf("%s: %s, error %v", expression, text, err)
			}
			continue
		}
		if want[0] == same {
			want[0] = expression
		}
		if err != nil || text != want[0] {
			t.Errorf("%s is planned as %s, error %v", expression, text, err)
			continue
		}
		got, err := placeholder.Expand(text, func(name string) (string, error) { return ValueOfRuns(name, value) })
		if err != nil || got != want[1] {
			t.Errorf("%s is %q, error %v; want %q", expression, got, err, want[1])
		}
	}
}

func TestRefusedExpressionsOverValuesOfRuns(t *testing.T) {
	for expression, want := range map[string]string{
		`${[for x in [1]: x * run("a").requests]}`: "is tuple, not a number or a text",
		`${length([run("a").requests])}`:           "cannot be computed here",
		`${run("a").requests + "x"}`:               "a number is required",
		`${run("a").requests + var.nothing}`:       `no variable "nothing"`,
		`${2 * variant.n}`:                         "a number is required",
		`${upper(variant.n)}`:                      "A function changes the text of a run's value",
		`${run("a").requests > 1}`:                 "is bool, not a number or a text",
	} {
		if text, err := deferredEnv(t, expression); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, error %v", expression, text, err)
		}
	}
	value := func(*RunValue) (float64, error) { return math.Inf(1), nil }
	for name, want := range map[string]string{
		`run("a").requests`: `run("a").requests is +Inf, not a finite number`,
		`run("a"`:           "not an expression over values of runs",
		`1 / run("a").x`:    "not a finite number",
	} {
		if text, err := ValueOfRuns(name, value); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %s, error %v", name, text, err)
		}
	}
}

package planner

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/dsl"
)

// A share above 100 % is most likely a percentage without its sign.
func TestSharesWithoutAUnit(t *testing.T) {
	const transfer = "workload: transfer, options: {block_size: 1MiB}"
	const serving = "workload: serving, options: {url: 'http://h:1', model: m, requests: 10, concurrency: 1}"
	for asserted, want := range map[string]string{
		"error_rate <= 1":              "error_rate is never above 100%",
		"error_rate <= 5":              "Write 5%, or correct the bound.",
		"error_rate <= 500%":           "Correct the bound.",
		"error_rate <= 5%":             "",
		"error_rate >= 1":              "",
		"input.cached >= 90":           "input.cached is never as large as 9000%, so the assertion cannot hold.",
		"input.cached within 1% of 90": "Write 90%",
		"ceiling >= 90":                "Write 90%",
		"ceiling <= 90":                "cannot fail",
		"ceiling >= 0.9":               "",
		"ceiling >= 1.1":               "",
		"bandwidth >= 90":              "",
	} {
		run := transfer
		if strings.HasPrefix(asserted, "error_rate") || strings.HasPrefix(asserted, "input") {
			run = serving
		}
		src := "scenario: s\nruns:\n  a: {" + run + ", assert: ['" + asserted + "']}\n"
		_, diags := Build(read(t, "s.yaml", src, dsl.Options{}))
		text := render(diags)
		for _, d := range diags {
			text += string(d.Extra.(dsl.Hint))
		}
		if diags.HasErrors() || (len(diags) > 0) != (want != "") || !strings.Contains(text, want) {
			t.Errorf("%s: %s, want %q", asserted, text, want)
		}
	}
}

// A run without cases is most likely an exclusion that is too wide.
func TestSweepsThatExcludeEverything(t *testing.T) {
	src := "scenario: s\nruns:\n  a: {workload: transfer, options: {block_size: 1MiB}, sweep: {batch: [1, 2], " +
		"exclude: [{when: batch >= 1}]}}\n"
	_, diags := Build(read(t, "s.yaml", src, dsl.Options{}))
	if len(diags) != 1 || diags.HasErrors() || !strings.Contains(render(diags), "excludes all of its 2 points") {
		t.Errorf("%s", render(diags))
	}
}

// A gain of 100 % or more without a percent sign may be meant as a ratio.
func TestGainsWithoutAPercentSign(t *testing.T) {
	for asserted, want := range map[string]string{
		"gain(bandwidth) >= 1.05":                     "A gain of 1.05 is one of 105%.",
		"gain(bandwidth) >= 2":                        "A gain of 2 is one of 200%.",
		"gain(bandwidth) >= 10":                       "A gain of 10 is one of 1000%.",
		"gain(bandwidth) >= -5":                       "A gain of -5 is one of -500%.",
		"gain(bandwidth) >= -0.5":                     "",
		"gain(bandwidth) >= 5%":                       "",
		`gain(bandwidth) >= 10 where variant == "b"`:  "A gain of 10 is one of 1000%.",
		`gain(bandwidth) >= 10% where variant == "b"`: "",
		"gain(bandwidth) between -5 and 5":            "A gain of -5",
		"gain(bandwidth) >= 0.05":                     "",
		"gain(bandwidth) >= 105%":                     "",
		"gain(latency.p50) >= 10%":                    "",
	} {
		src := "scenario: s\nvariants: {a: {env: {A: 1}}, b: {env: {A: 2}}, baseline: a}\nruns:\n  r:\n    workload: transfer\n" +
			"    options: {block_size: 1MiB}\n    sweep: {variant: [a, b]}\n    assert: ['" + asserted + "']\n"
		_, diags := Build(read(t, "s.yaml", src, dsl.Options{}))
		if diags.HasErrors() || (len(diags) > 0) != (want != "") || !strings.Contains(render(diags), want) {
			t.Errorf("%s: %s, want %q", asserted, render(diags), want)
		}
	}
}

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"pgregory.net/rapid"
)

// author writes random scenarios that load, as YAML. They run over fabric sim and
// need nothing but this process, unless complete asks for every other key as well.
type author struct {
	*rapid.T
	complete bool
	values   map[string][]string // of axes, the same in every run
	axes     map[string][]string // of each run that is written
	runs     []string
}

func newAuthor(t *rapid.T, complete bool) *author {
	a := &author{T: t, complete: complete, axes: map[string][]string{}}
	a.values = map[string][]string{
		"block_size": a.some("sizes", 2, "4KiB", "64KiB", "1MiB"), "in_flight": {"1", "16"}, "op": {"write", "read"},
		"sim_seed": {"1", "2"}, "env.TUNING": {`"on"`, `"off"`},
	}
	return a
}

func (a *author) pick(name string, all ...string) string {
	return rapid.SampledFrom(all).Draw(a.T, name)
}

func (a *author) sometimes(name string) bool { return rapid.IntRange(0, 2).Draw(a.T, name) == 0 }

// some are at least a number of all, in order.
func (a *author) some(name string, least int, all ...string) []string {
	n := rapid.IntRange(least, len(all)).Draw(a.T, name)
	chosen := rapid.Permutation(all).Draw(a.T, name)[:n]
	return slices.DeleteFunc(slices.Clone(all), func(x string) bool { return !slices.Contains(chosen, x) })
}

func inMapping(parts []string) string { return "{" + strings.Join(parts, ", ") + "}" }
func inList(parts []string) string    { return "[" + strings.Join(parts, ", ") + "]" }

func (a *author) scenario() string {
	lines := []string{"scenario: generated"}
	if a.complete {
		lines = append(lines, a.surroundings()...)
	}
	lines = append(lines, "variables: "+inMapping([]string{
		"target: {type: bandwidth, default: " + a.pick("target", "2 GB/s", "9 GB/s", "10 GB/s", "80Gb/s") + "}",
		"rounds: {type: number, default: 20, validation: {condition: " +
			a.pick("condition", "var.rounds > 0", "${var.rounds > 0}") + ", message: more}}",
	}), "defaults: "+a.defaults(), "runs:")
	n := rapid.IntRange(1, 3).Draw(a.T, "runs")
	for i := range n {
		for _, line := range a.run(string(rune('a'+i)), i == n-1) {
			lines = append(lines, "  "+line)
		}
	}
	if a.complete {
		lines = append(lines, a.load()...)
	}
	return strings.Join(lines, "\n") + "\n"
}

func (a *author) defaults() string {
	return inMapping([]string{
		"launches: " + a.pick("launches", "1", "3", "[2, 4]", "[3, 5, 8]"),
		"retry: " + a.pick("retry", "0", "1", "{times: 2, on: [crash, connect, fault]}",
			"{times: 1, on: [timeout], wait: 1ms}"),
		"timeout: " + a.pick("timeout", "1m", "{launch: 1m, ready: 5s}"),
		"options: {transfer: {" + strings.Join([]string{
			"fabric: sim", "iterations: " + a.pick("iterations", "20", `"${var.rounds}"`, "${max(10, var.rounds)}"),
			"sim_noise: " + a.pick("noise", "0%", "3%", "20%"), "sim_drift: " + a.pick("drift", "0%", "2%"),
			"sim_stragglers: " + a.pick("stragglers", "0%", "20%"),
		}, ", ") + "}}",
	})
}

// run writes a run. Others do not refer to the last one, so its sweep may be any.
func (a *author) run(name string, last bool) []string {
	axes := a.some("axes of "+name, 0, "block_size", "in_flight", "op", "sim_seed")
	sweep, product := a.sweep(axes), true
	if last && a.sometimes("combined") {
		axes, sweep = a.combined()
		product = false
	}
	lines := []string{name + ":", "  workload: transfer", "  options: " + a.options(axes)}
	if len(sweep) > 0 {
		lines = append(lines, "  sweep: "+inMapping(append(sweep, a.order(axes)...)))
	}
	if needs := a.needs(); needs != "" {
		lines = append(lines, "  needs: "+needs)
	}
	if a.sometimes("when") {
		lines = append(lines, "  when: "+a.pick("condition", "host.gpus == 0", "host.gpus > 0", `"block_size >= 64KiB"`,
			`fabric in host.fabrics`))
	}
	if a.sometimes("own launches") {
		lines = append(lines, "  launches: "+a.pick("launches", "2", "[2, 3]"))
	}
	if a.sometimes("own retry") {
		lines = append(lines, "  retry: "+a.pick("retry", "3", "{times: 1, on: [crash]}"))
	}
	if a.complete {
		lines = append(lines, a.processes()...)
	}
	var asserts []string
	stated := map[string]bool{}
	for range rapid.IntRange(0, 3).Draw(a.T, "assertions") {
		s := a.statement(axes, product)
		if !stated[s] { // each is stated once
			asserts = append(asserts, a.assertion(s))
		}
		stated[s] = true
	}
	lines = append(lines, "  assert: "+inList(asserts))
	a.runs, a.axes[name] = append(a.runs, name), axes
	return lines
}

func (a *author) options(axes []string) string {
	parts := []string{"sim_bandwidth: " + a.pick("bandwidth", "10 GB/s", "11 GB/s", "100Gb/s")}
	if !slices.Contains(axes, "block_size") {
		parts = append(parts, "block_size: "+a.pick("size", "64KiB", `"65536"`, "1MiB"))
	}
	if f := a.pick("failure", "", "", "", "launch 0 rank 1 run crash", "launch 1 verify", "30% run crash",
		"20% connect", "launch 1 connect, launch 2 ready timeout", "10% fault"); f != "" {
		parts = append(parts, "sim_failure: "+strconv.Quote(f))
	}
	return inMapping(parts)
}

func (a *author) sweep(axes []string) []string {
	var parts []string
	for _, x := range axes {
		parts = append(parts, fmt.Sprintf("%s: [%s]", x, strings.Join(a.values[x], ", ")))
	}
	return parts
}

// combined is a sweep with points that are not the product of its axes.
func (a *author) combined() (axes, parts []string) {
	size := a.values["block_size"]
	switch a.pick("combination", "zip", "concat", "exclude", "include") {
	case "zip":
		parts = []string{fmt.Sprintf("zip: {block_size: [%s, %s, %[1]s], in_flight: [1, 16, 16]}", size[0], size[1])}
	case "concat":
		parts = []string{
			fmt.Sprintf("concat: [{block_size: [%s], in_flight: [1, 16]}, {product: [{block_size: [%s]}, {in_flight: [16]}]}]",
				size[0], size[1]),
		}
	case "exclude":
		parts = append(a.sweep([]string{"block_size", "in_flight"}),
			fmt.Sprintf("exclude: [{when: block_size == %s && in_flight == 1, reason: slow}]", size[1]))
	default:
		parts = append(a.sweep([]string{"block_size"}), "in_flight: [16]", "max_cases: 20",
			fmt.Sprintf("include: [{block_size: %s, in_flight: 1}]", size[0]))
	}
	return []string{"block_size", "in_flight"}, parts
}

func (a *author) order(axes []string) []string {
	all := []string{"", "given", "random", "interleave", "{by: random, seed: 7}"}
	if len(axes) > 0 {
		all = append(all, fmt.Sprintf("{by: interleave, axis: %s}", a.pick("alternating", axes...)))
	}
	if o := a.pick("order", all...); o != "" {
		return []string{"order: " + o}
	}
	return nil
}

// needs are of runs that come before.
func (a *author) needs() string {
	if len(a.runs) == 0 || !a.sometimes("needs") {
		return ""
	}
	var parts []string
	for _, r := range a.some("needed", 1, a.runs...) {
		parts = append(parts, a.pick("need", r, "{run: "+r+"}", "{run: "+r+", on: failed}", "{run: "+r+", on: always}"))
	}
	if len(parts) == 1 && a.sometimes("alone") {
		return parts[0]
	}
	return inList(parts)
}

// assertion writes one in short or long form.
func (a *author) assertion(statement string) string {
	text := strconv.Quote(statement)
	if a.sometimes("short") {
		return text
	}
	parts := []string{"that: " + text}
	for _, key := range a.some("keys", 0, "severity", "halo", "multiple", "decide", "xfail") {
		parts = append(parts, key+": "+map[string]string{
			"severity": a.pick("severity", "gate", "warn", "info"), "halo": a.pick("halo", "5%", "0.5%"),
			"multiple": a.pick("multiple", "none", "holm"),
			"decide": a.pick("decide", "{confidence: 99%}", "{on_inconclusive: fail}",
				"{confidence: 90%, on_inconclusive: warn}"),
			"xfail": a.pick("xfail", "{reason: known, until: 2020-01-31}", "{reason: known, until: 2999-12-31}"),
		}[key])
	}
	return inMapping(parts)
}

// statement is what an assertion says; several: its run has cases along all its axes.
func (a *author) statement(axes []string, several bool) string {
	all := []string{
		"bandwidth >= ${var.target}", "bandwidth within 10% of ${var.target}", "latency.p99 <= 4 * latency.p50",
		"bandwidth between 5 and 10",
		"ceiling <= 1.05 where block_size >= 64KiB", "ratio(bandwidth, ceiling.bandwidth) >= 0.5",
		"bandwidth >= 0.9 * sim_bandwidth",
		"all(bandwidth >= 1, latency.p50 <= 1ms)", "any(bandwidth >= 9, ceiling >= 0.9)",
		"geomean(bandwidth) >= ${var.target}", "min(bandwidth) >= 0.5 * max(bandwidth)",
	}
	if several {
		for _, x := range axes {
			all = append(all, fmt.Sprintf("bandwidth increases with %s", x),
				fmt.Sprintf("latency.p50 decreases with %s within 5%%", x),
				fmt.Sprintf("mean(bandwidth over %s) >= 2", x))
		}
	}
	for _, r := range a.runs {
		all = append(all, fmt.Sprintf("bandwidth >= 0.9 * max(run(%q).bandwidth)", r),
			fmt.Sprintf("geomean(bandwidth) >= geomean(run(%q).bandwidth)", r))
		if !slices.ContainsFunc(a.axes[r], func(x string) bool { return !slices.Contains(axes, x) }) {
			all = append(all, fmt.Sprintf("bandwidth >= 0.9 * run(%q).bandwidth", r))
		}
	}
	if a.complete {
		all = append(all, "bandwidth >= 0.97 * baseline.bandwidth")
		if slices.Contains(axes, "block_size") && len(a.runs) == 0 {
			all = append(all, "bandwidth within 5% of reference.bandwidth")
		}
	}
	return a.pick("statement", all...)
}

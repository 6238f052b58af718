package main

import (
	"fmt"
	"strings"
)

// surroundings are the keys of a scenario that are about more than this process.
func (a *author) surroundings() []string {
	lines := []string{
		"description: " + a.pick("description", "plain", `"with: colon"`, "|\n  of two\n  lines", "'it''s'", `"é 日本"`),
	}
	if a.sometimes("include") {
		lines = append(lines, "include: "+a.pick("included", "other.yaml", "{file: other.yaml, as: o}",
			"[other.yaml, {file: other.yaml, as: p, runs: [first], variables: {n: 3}}]"))
	}
	lines = append(lines, "cluster: "+a.pick("cluster", "{}", "{nodes: 2}",
		"{nodes: 2, distinct_hosts: true, gpus_per_node: 1}"))
	if a.sometimes("checks") {
		lines = append(lines, "checks: "+a.pick("check", "{there: {command: [test, -d, /]}}",
			"[{name: a check, on: every node, command: [\"true\"]}]"))
	}
	for _, stage := range []string{"setup", "teardown"} {
		if a.sometimes(stage) {
			lines = append(lines, stage+": "+a.commands("own", "session", "run", "launch"))
		}
	}
	if a.sometimes("baseline") {
		lines = append(lines, "baseline: old.json")
	}
	var rows []string
	for _, size := range a.values["block_size"] {
		rows = append(rows, fmt.Sprintf("{block_size: %s, bandwidth: %s}", size,
			a.pick("expected", "9 GB/s", "72Gb/s", "9.5")))
	}
	return append(lines, "references: {a: "+inList(rows)+"}")
}

// commands is a list of commands with some of these scopes; their names begin with a prefix.
func (a *author) commands(prefix string, scopes ...string) string {
	items := []string{"[sync]", `[sh, -c, "echo $HOME"]`}
	for _, s := range scopes {
		items = append(items, fmt.Sprintf(`{name: %s, command: [echo, "a b", ${upper("x")}], on: first node, scope: %s, env: {A: 1, T: '${secret("TOKEN")}'}, timeout: %s}`,
			prefix+" "+s, s, a.pick("time", "2s", "1.5m", "500ms")))
	}
	return inList(a.some("commands", 1, items...))
}

// processes are the keys of a run that say how its processes are started.
func (a *author) processes() []string {
	var lines []string
	for _, key := range a.some("of processes", 0, "env", "setup", "teardown", "timeout") {
		lines = append(lines, "  "+key+": "+map[string]string{
			"env": a.pick("env", "{A: 1, B: plain}", `{A: "yes", KEY: '${secret("TOKEN")}'}`,
				`{KEY: "${secret(\"file:/run/token\")}"}`, "{A: 0777, B: 1.50, C: ''}"),
			"setup": a.commands("its", "run", "launch"), "teardown": a.commands("its", "launch"),
			"timeout": a.pick("times", "90s", "{launch: 2m, ready: 1s, connect: 2s, run: 1m, verify: 3s, teardown: 4s}"),
		}[key])
	}
	return lines
}

// load is a run with another one in its background.
func (a *author) load() []string {
	if !a.sometimes("load") {
		return nil
	}
	return strings.Split(`  fore:
    workload: transfer
    options: {fabric: shm, block_size: 4KiB}
    sweep: {env.TUNING: ["on", "off"]}
  load:
    workload: transfer
    while: fore
    options: {fabric: tcp, block_size: 4KiB}`, "\n")
}

// others are the files that surroundings refers to.
var others = map[string]string{
	"other.yaml": "scenario: other\nvariables: {n: {type: number, default: 2}}\nruns:\n" +
		"  first: {workload: transfer, options: {block_size: 4KiB, iterations: \"${var.n}\"}}\n" +
		"  second: {workload: transfer, options: {block_size: 4KiB}, needs: first, assert: ['bandwidth >= run(\"first\").bandwidth']}\n",
}

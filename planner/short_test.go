package planner

import (
	"maps"
	"testing"
)

// A scalar stands for a mapping with the main key, also if it is that of an axis.
func TestShortFormsOfMappings(t *testing.T) {
	const head = "scenario: s\nruns:\n  r:\n    workload: serving\n    sweep: {isl: [512, 'uniform:8,16']}\n" +
		"    options: {url: 'http://h', model: m, requests: 9, "
	short := build(t, head+"input: '${axis.isl}', output: 8, ready: 30m}\n")
	long := build(t, head+"input: {tokens: '${axis.isl}'}, output: {tokens: 'fixed:8'}, ready: {timeout: 30m}}\n")
	for i, c := range short.Cases {
		if !maps.Equal(c.Options, long.Cases[i].Options) {
			t.Errorf("%s: %v and %v", c.Key, c.Options, long.Cases[i].Options)
		}
	}
	equal(t, "output", short.Cases[0].Options["output"], any(`{"tokens":"fixed:8"}`))
}

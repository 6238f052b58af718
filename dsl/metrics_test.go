package dsl

import (
	"strings"
	"testing"
)

// A wrong declaration of a metric is one error, not also a metric that parse finds and nobody declares, or an assertion
// of a metric that there is not.
func TestAWrongMetricIsOneError(t *testing.T) {
	src := "scenario: s\nruns:\n  a:\n    workload: command\n    metrics: {rate: {unit: MB/s, better: up}}\n    options:\n" +
		"      roles: {b: {command: [echo, hi]}}\n      parse: {of: b, lines: 'rate: (?<rate>[0-9.]+)'}\n    assert: [rate >= 90 MB/s]\n"
	_, _, diags := Load("s.yaml", []byte(src), Options{})
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, `"up" is not a value of better`) {
		t.Errorf("%v", diags)
	}
}

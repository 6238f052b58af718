package planner

import (
	"path/filepath"
	"strings"
	"testing"

	"weir/test/golden"
)

const variants = `scenario: variants
services:
  web:
    command: [server, --port, "${port.http}"]
    env: {MODE: plain}
    ready: {listens: "${port.http}"}
    url: "http://127.0.0.1:${port.http}"
    fresh: variant
  monitor: {command: [monitor]}
variants:
  baseline: a
  a: {env: {CLIENT: one, SAME: x}}
  b: {env: {CLIENT: two}, services: {web: {env: {MODE: fast}}}, options: {requests: 30}}
  c: {services: {web: {command: [server, --turbo, --port, "${port.http}"], proof: {log: turbo}}}}
runs:
  load:
    workload: serving
    services: [web, monitor]
    env: {ALL: every case}
    options: {url: "${service.web.url}", model: m, input: {tokens: "fixed:10"}, output: {tokens: "fixed:2"}, requests: 20}
    sweep: {variant: [a, b, c], concurrency: [1, 2]}
  bare:
    workload: transfer
    options: {fabric: shm, block_size: 64KiB}
    sweep: {env.LEVEL: [low, null], in_flight: [1, 2]}
`

// What variants change is shown once for the cases that have it, beside what all cases share.
func TestPlanShowsWhatVariantsChange(t *testing.T) {
	p := build(t, variants)
	var b strings.Builder
	if err := p.Text(&b); err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, filepath.Join("testdata", "variants/plan.txt"), []byte(b.String()))
}

package jsonschema_test

import "testing"

// What an editor shows is refused while it is written: misspelt metrics, and values of axes and variants.
func TestMisspellingsAreRefused(t *testing.T) {
	s := compiled(t)
	valid := func(src string) bool { return s.Validate(parse(t, "x", []byte(src))) == nil }
	transfer := func(rest string) string {
		return "scenario: x\nruns:\n  r:\n    workload: transfer\n    options: {fabric: sim, block_size: 1MiB}\n" +
			"    " + rest
	}
	serving := func(assertion string) string {
		return "scenario: x\nruns:\n- name: r\n  workload: serving\n  options: {url: \"http://x\", model: a, requests: 3}\n" +
			"  assert: ['" + assertion + "']\n"
	}
	variant := func(options string) string {
		return "scenario: x\nvariants: {a: {options: " + options + "}, baseline: a}\n" +
			"runs: {r: {workload: transfer, options: {block_size: 4KiB}, sweep: {variant: [a]}}}\n"
	}
	const services = "services: {s: {command: [s], metrics: {hits: {log: a, better: none}}}}\n"
	for _, c := range []struct{ good, bad string }{
		{transfer("assert: ['bandwidth >= 1 GB/s']"), transfer("assert: ['bandwith >= 1 GB/s']")},
		{transfer("assert: ['latency.p50 <= 1s']"), transfer("assert: ['ttft.p50 <= 1s']")},
		{transfer("assert: [{that: 'latency.p99 <= 1s'}]"), transfer("assert: [{that: 'latencyy.p99 <= 1s'}]")},
		{
			transfer("assert: ['bandwidth >= 0.5 * ceiling.bandwidth']"),
			transfer("assert: ['bandwidth >= 0.5 * ceilling.bandwidth']"),
		},
		{
			transfer("assert: ['bandwidth >= 0.9 * baseline.bandwidth']"),
			transfer("assert: ['bandwidth >= 0.9 * baseline.bandwith']"),
		},
		{
			transfer("assert: ['bandwidth >= 0.9 * baseline.bandwidth']"),
			transfer("assert: ['bandwidth >= 0.9 * basline.bandwidth']"),
		},
		{transfer("assert: ['gain(latency.p50) >= 1%']"), transfer("assert: ['gain(latancy.p50) >= 1%']")},
		{
			transfer("assert: ['all(bandwidth >= 1 GB/s, latency.p99 <= 1 s)']"),
			transfer("assert: ['all(bandwidth >= 1 GB/s, latency.p98 <= 1 s)']"),
		},
		{serving("ttft.p50 <= 1s"), serving("bandwidth >= 1 GB/s")},
		{transfer("sweep: {fabric: [shm, tcp]}"), transfer("sweep: {fabric: [shm, tpc]}")},
		{transfer("sweep: {zip: {fabric: [shm, tcp]}}"), transfer("sweep: {zip: {fabric: [shm, tpc]}}")},
		{transfer("sweep: {zip: [{fabric: [shm, tcp]}]}"), transfer("sweep: {zip: [{fabric: [shm, tpc]}]}")},
		{
			transfer("sweep: {concat: [{product: {fabric: [shm]}}]}"),
			transfer("sweep: {concat: [{product: {fabric: [shn]}}]}"),
		},
		{transfer("sweep: {op: [write]}"), transfer("sweep: {op: [wrote]}")},
		{transfer("sweep: {block_size: [4096, 4KiB, '${var.x}']}"), transfer("sweep: {block_size: [banana]}")},
		{transfer("sweep: {threads: [1, '2']}"), transfer("sweep: {threads: [two]}")},
		{variant("{op: read}"), variant("{op: wrote}")},
		{variant("{block_size: '${var.x}'}"), variant("{block_size: banana}")},
		{
			services + transfer("services: [s]\n    assert: ['hits >= 1']"),
			"services: {s: {command: [s]}}\n" + transfer("services: [s]\n    assert: ['hits >= 1']"),
		},
	} {
		if !valid(c.good) {
			t.Errorf("refused:\n%s", c.good)
		}
		if valid(c.bad) {
			t.Errorf("accepted:\n%s", c.bad)
		}
	}
}

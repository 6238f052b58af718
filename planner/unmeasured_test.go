package planner

import (
	"strings"
	"testing"
)

// asserting returns a run with options and an assertion, each on a separate line.
func asserting(workload, options, assertion string) string {
	return "scenario: s\nruns:\n  a:\n    workload: " + workload + "\n    options: {" + options + "}\n    assert: [\"" +
		assertion + "\"]\n"
}

// A metric that options rule out is refused at its place, with the reason, before anything is
// measured.
func TestMetricsThatOptionsRuleOut(t *testing.T) {
	const (
		pings  = "fabric: cuda, initiator: vram, target: vram, cuda_engine: sm, mode: pingpong, "
		phases = "phases: [{ranks: 0..1}, {ranks: 0..2}, {kill: 2}, {leave: 1}], "
		onGPUs = "fabric: cuda, ranks: 2, "
		cells  = "matrix: [[0, 1MiB], [0, 0]], "
		own    = "matrix: [[1MiB, 1MiB], [0, 0]], "
		nixl   = "fabric: nixl, block_size: 4KiB, "
	)
	for _, c := range []struct{ workload, options, assertion, why string }{
		{"ep", "fabric: shm, timing: stream", "latency.events <= 1s", "memory vram"},
		{"ep", onGPUs + "timing: aligned", "latency.wall <= 1s", "timing stream"},
		{"ep", onGPUs + "timing: stream", "latency.wall <= 1s", ""},
		{"ep", "mode: combine", "dispatch.latency.p50 <= 1s", "mode e2e"},
		{"ep", "mode: dispatch", "combine.bandwidth >= 1 GB/s", "mode e2e"},
		{"ep", "mode: dispatch", "dispatch.bandwidth >= 1 GB/s", "of which bandwidth is"},
		{"ep", "mode: e2e", "dispatch.bandwidth >= 1 GB/s", ""},
		{"ep_elastic", "fabric: tcp, " + phases, "kernels.stop <= 1s where killed > 0", "memory vram"},
		{"ep_elastic", "fabric: cuda, " + phases, "kernels.stop <= 1s", "no rank is killed or muted in phase 0"},
		{"ep_elastic", "fabric: cuda, " + phases, "kernels.stop <= 1s where killed > 0", ""},
		{"ep_elastic", phases, "scale_up.time <= 1s where killed > 0", "no rank joins in phase 2"},
		{"ep_elastic", phases, "scale_up.time <= 1s where joined > 0", ""},
		{"ep_elastic", phases, "scale_down.time <= 1s where joined > 0", "no rank leaves in phase 1"},
		{"ep_elastic", phases, "rate.after >= 0.1 * rate.before", "in phase 0"},
		{"ep_elastic", phases, "rate.after >= 0.1 * rate.before where killed > 0", ""},
		{"transfer", pings + "block_size: 64KiB", "post.avg <= 1s", "without posting messages"},
		{"transfer", pings + "block_size: 128KiB", "post.avg <= 1s", ""},
		{"transfer", "fabric: shm, block_size: 4KiB", "post.p99 <= 1s", ""},
		{"transfer", "fabric: sim, block_size: 4KiB", "post.avg <= 1s", "takes no time in the model"},
		{"transfer", "fabric: shm, block_size: 4KiB", "prep.lists <= 1s", "fabric nixl with nixl_prepared: true"},
		{"transfer", "fabric: auto, block_size: 4KiB", "prep.lists <= 1s", "fabric nixl with nixl_prepared: true"},
		{"transfer", nixl, "prep.lists.p99 <= 1s", "nixl_prepared: true"},
		{"transfer", nixl + "nixl_prepared: true", "prep.lists <= 1s", ""},
		{"transfer", nixl, "prep.reregister <= 1s", "nixl_reregister: true"},
		{"transfer", nixl, "prep.request.p99 <= 1s", ""},
		{"transfer", "fabric: tcp, block_size: 4KiB, mode: pingpong", "prep.request <= 1s", "makes no requests"},
		{"transfer", "fabric: tcp, block_size: 4KiB", "prep.request <= 1s", ""},
		{"traffic", cells + "fabric: tcp", "prep.lists <= 1s", "fabric nixl"},
		{"traffic", cells + "fabric: nixl, nixl_prepared: true", "prep.lists <= 1s", ""},
		{"traffic", cells + "fabric: shm", "bytes.own >= 1B", "no rank copies its own cell"},
		{"traffic", own + "fabric: shm", "bytes.own >= 1B", ""},
	} {
		text := asserting(c.workload, strings.TrimSuffix(c.options, ", "), c.assertion)
		if c.why == "" {
			build(t, text)
			continue
		}
		mentions(t, refuse(t, text), 6, "Metric not measured", c.why)
	}
}

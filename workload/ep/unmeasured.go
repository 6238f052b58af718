package ep

import (
	"strings"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
)

// Unmeasured says why a case lacks a metric.
func (behaviour) Unmeasured(v option.Values, metric string) string {
	get := Kind.Get(v)
	switch mode := get("mode"); {
	case ofKernels(metric) && get("memory") != fabric.VRAM:
		return "only kernels, which move memory vram, have it"
	case ofHost(metric) && (get("memory") != fabric.VRAM || get("initiated") != byHost):
		return "only puts of GPU memory that the host posts (initiated host) have it"
	case ofKernels(metric) && get("initiated") == byHost:
		return "it needs initiated device: otherwise the host waits between kernels"
	case ofKernels(metric) && get("timing") != "stream":
		return "it needs timing stream: otherwise the host waits between iterations"
	case operation(metric) != "" && mode != "e2e":
		return "only mode e2e has two operations; with another mode there is one, of which " +
			strings.TrimPrefix(metric, operation(metric)+".") + " is"
	}
	return ""
}

func (behaviour) UnmeasuredBy(metric string) []string {
	switch {
	case ofKernels(metric):
		return []string{"fabric", "memory", "initiated", "timing"}
	case ofHost(metric):
		return []string{"fabric", "memory", "initiated"}
	case operation(metric) != "":
		return []string{"mode"}
	}
	return nil
}

// ofKernels reports whether kernelMetrics has a metric.
func ofKernels(metric string) bool { return metric == "latency.events" || metric == "latency.wall" }

// ofHost reports whether hostMetrics has a metric.
func ofHost(metric string) bool {
	return metric == "phase.post" || metric == "phase.kernel" || metric == "phase.launch"
}

// operation returns the operation of mode e2e that a metric belongs to; "": whole iterations.
func operation(metric string) string {
	if name, _, _ := strings.Cut(metric, "."); name == "dispatch" || name == "combine" {
		return name
	}
	return ""
}

package ep

import (
	"strings"

	"weir/fabric"
	"weir/workload"
)

// unmeasured says which option rules a metric out.
func unmeasured(v workload.Values, metric string) string {
	get := Kind.Get(v)
	switch mode := get("mode"); {
	case ofKernels(metric) && get("memory") != fabric.VRAM:
		return "it is of kernels, which move memory vram"
	case ofKernels(metric) && get("timing") != "stream":
		return "it is of all iterations of timing stream: with another one the host waits between them"
	case operation(metric) != "" && mode != "e2e":
		return "the two operations are told apart with mode e2e; with another mode there is one, of which " +
			strings.TrimPrefix(metric, operation(metric)+".") + " is"
	}
	return ""
}

func unmeasuredBy(metric string) []string {
	switch {
	case ofKernels(metric):
		return []string{"fabric", "memory", "timing"}
	case operation(metric) != "":
		return []string{"mode"}
	}
	return nil
}

// ofKernels says whether kernelMetrics has a metric.
func ofKernels(metric string) bool { return metric == "latency.events" || metric == "latency.wall" }

// operation is the one of mode e2e that a metric is of; "": it is of whole iterations.
func operation(metric string) string {
	if name, _, _ := strings.Cut(metric, "."); name == "dispatch" || name == "combine" {
		return name
	}
	return ""
}

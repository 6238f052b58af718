package native

import (
	"os"
	"testing"
	"time"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// The time of a ping-pong by kernels is that of its round trips: it includes neither the start of a kernel
// nor the time between two parts.
func TestKernelsOfAPingPongAreTimedByThemselves(t *testing.T) {
	phase.Long(t)
	if os.Getenv(cudaChildEnv) == "" {
		cudaChildTest(t, t.Name(), "FAKE_CUDA_DEVICES=2", "FAKE_CUDA_SLOW=20000")
		return
	}
	const n = 50 // of three parts
	s := runCases(t, "cuda", 2, options(8, pingpong, func(o *move.Spec) {
		o.Initiator, o.Target, o.Iterations, o.Warmup = fabric.VRAM, fabric.VRAM, n, 0
		o.FabricOptions, o.VRAMAlloc = fabric.Options{"cuda_engine": "sm"}, "vmm"
	}))[0][0].Samples
	took, halves := s.End-s.Start, int64(0)
	for _, half := range s.First {
		halves += half
	}
	if len(s.First) != n || s.Ops != n || took < 2*halves-n || took > 2*halves+2*n {
		t.Errorf("%d messages took %v, and their round trips %v", s.Ops, time.Duration(took), time.Duration(2*halves))
	}
	if first, rest := s.First[0], (halves-s.First[0])/(n-1); first > int64(10*time.Millisecond) && first > 50*rest {
		t.Errorf("the first message took %v, the others %v: it waited for a kernel", time.Duration(first),
			time.Duration(rest))
	}
}

package native

// #include "weir.h"
import "C"

import "github.com/weir-bench/weir/workload/move"

// usage returns the resource usage of a rank; sleeps: it blocks while it waits for others.
func usage(out *C.struct_weir_result, sleeps bool) move.Usage {
	return move.Usage{CPU: float64(out.cpu_s), Switches: uint64(out.switches), Timed: processor(out.processor),
		Probed: processor(out.probing), Sleeps: sleeps}
}

// processor returns nil if the kernel does not report how long a thread waited.
func processor(t C.struct_weir_processor_time) *move.Processor {
	if t.wait_known == 0 {
		return nil
	}
	return &move.Processor{Wall: float64(t.wall_s), Ran: float64(t.ran_s), Waited: float64(t.waited_s)}
}

package native

// #include "weir.h"
import "C"

import "weir/workload/move"

// usage is what a rank used; sleeps: it sleeps while it waits for others.
func usage(out *C.struct_weir_result, sleeps bool) move.Usage {
	return move.Usage{CPU: float64(out.cpu_s), Switches: uint64(out.switches), Timed: processor(out.processor),
		Probed: processor(out.probing), Sleeps: sleeps}
}

// processor is nil where the kernel does not say how long a thread waited.
func processor(t C.struct_weir_processor_time) *move.Processor {
	if t.told == 0 {
		return nil
	}
	return &move.Processor{Wall: float64(t.wall_s), Ran: float64(t.ran_s), Waited: float64(t.waited_s)}
}

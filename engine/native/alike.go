package native

/*
#include <stddef.h>
#include "weir.h"

enum {
	AT_ABORT = offsetof(struct weir_control, abort),
	AT_PHASE = offsetof(struct weir_control, phase),
	AT_HEARTBEAT = offsetof(struct weir_control, heartbeat),
	AT_DONE = offsetof(struct weir_control, done),
	AT_TOTAL = offsetof(struct weir_control, total),
	AT_RATE = offsetof(struct weir_control, rate),
	AT_ENDING = offsetof(struct weir_control, ending),
	CONTROL_SIZE = sizeof(struct weir_control)
};
*/
import "C"

import (
	"unsafe"

	"github.com/weir-bench/weir/engine"
)

// The control page and the numbers of phases in it are shared with agents, which are built without C, so they
// are declared in Go and in C. If they differ, one of these constants is negative and does not compile.
const (
	_ = -(unsafe.Offsetof(engine.Control{}.Abort) ^ C.AT_ABORT)
	_ = -(unsafe.Offsetof(engine.Control{}.Phase) ^ C.AT_PHASE)
	_ = -(unsafe.Offsetof(engine.Control{}.Heartbeat) ^ C.AT_HEARTBEAT)
	_ = -(unsafe.Offsetof(engine.Control{}.Done) ^ C.AT_DONE)
	_ = -(unsafe.Offsetof(engine.Control{}.Total) ^ C.AT_TOTAL)
	_ = -(unsafe.Offsetof(engine.Control{}.Rate) ^ C.AT_RATE)
	_ = -(unsafe.Offsetof(engine.Control{}.Ending) ^ C.AT_ENDING)
	_ = -(unsafe.Sizeof(engine.Control{}) ^ C.CONTROL_SIZE)
	_ = uint(engine.ControlSize - C.CONTROL_SIZE)

	_ = -(engine.PhaseStart ^ C.PH_START)
	_ = -(engine.PhaseReady ^ C.PH_READY)
	_ = -(engine.PhaseConnect ^ C.PH_CONNECT)
	_ = -(engine.PhaseVerify ^ C.PH_VERIFY)
	_ = -(engine.PhaseWarmup ^ C.PH_WARMUP)
	_ = -(engine.PhaseRun ^ C.PH_RUN)
	_ = -(engine.PhaseCeiling ^ C.PH_CEILING)
	_ = -(engine.PhaseTeardown ^ C.PH_TEARDOWN)
)

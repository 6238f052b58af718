package native

/*
#include "weir.h"
*/
import "C"

var ucxAPIs = map[string]C.int{"": C.UCX_RMA, "rma": C.UCX_RMA, "am": C.UCX_AM, "tag": C.UCX_TAG, "tag_sync": C.UCX_TAG_SYNC}

// describeUCX gives a rank of fabric ucx its options, which are the same in all
// cases of a launch, and the largest window: so many confirmations may be due.
func (r *rank) describeUCX(cfg *C.struct_weir_config) {
	cfg.ucx.api, cfg.ucx.iov = ucxAPIs[r.options.API], truth(r.options.Lists())
	for _, c := range r.launch.Cases {
		cfg.ucx.in_flight = max(cfg.ucx.in_flight, C.uint64_t(c.Options.InFlight))
		cfg.ucx.batch = max(cfg.ucx.batch, C.uint64_t(c.Options.Batch))
	}
}

package native

/*
#include <stdlib.h>
#include "weir.h"
*/
import "C"

import (
	"strings"
	"unsafe"
)

// describeNixl gives a rank of fabric nixl its options, which are the same in all
// cases of a launch. They are needed until the rank is open: free them then.
func (r *rank) describeNixl(cfg *C.struct_weir_config) (free func()) {
	o := r.options.Nixl
	if o == nil {
		return func() {}
	}
	params := strings.Builder{}
	for _, p := range o.Params {
		params.WriteString(p.Key + "=" + p.Value + "\n")
	}
	cfg.nixl.backend, cfg.nixl.params = C.CString(o.Backend), C.CString(params.String())
	cfg.nixl.merge, cfg.nixl.progress_thread = truth(o.Merge), truth(o.ProgressThread)
	cfg.nixl.prepared, cfg.nixl.reregister = truth(o.Prepared), truth(o.Reregister)
	cfg.nixl.recreate = truth(o.Recreate || o.Reregister) // a request keeps what it knows of its memory
	for _, c := range r.launch.Cases {
		cfg.nixl.in_flight = max(cfg.nixl.in_flight, C.uint64_t(c.Options.InFlight))
	}
	backend, lines := cfg.nixl.backend, cfg.nixl.params
	return func() {
		C.free(unsafe.Pointer(backend))
		C.free(unsafe.Pointer(lines))
	}
}

func truth(b bool) C.int {
	if b {
		return 1
	}
	return 0
}

package native

/*
#include <stdlib.h>
#include "weir.h"
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/weir-bench/weir/fabric"
)

// barrier waits until all ranks call it.
func (k *controlCase) barrier() error {
	k.mesh.Broadcast(nil)
	_, err := k.inbox.Take(k.ctx)
	return err
}

func (k *controlCase) operate(name string) ([]int64, error) {
	switch name {
	case "init":
		return k.init()
	case "disconnect":
		return k.disconnect()
	case "destroy":
		return k.destroy()
	}
	return k.connectAll()
}

// stepTimes converts seconds to nanoseconds; step rest gets the remainder of the whole.
func stepTimes(whole time.Duration, rest int, seconds ...C.double) []int64 {
	list, sum := make([]int64, len(seconds)), int64(0)
	for i, s := range seconds {
		if i != rest {
			list[i] = int64(float64(s) * 1e9)
			sum += list[i]
		}
	}
	list[rest] = max(0, whole.Nanoseconds()-sum)
	return list
}

func (k *controlCase) init() ([]int64, error) {
	o := k.spec.Moves()
	on := 0
	for _, n := range k.launch.Nodes {
		if n == k.launch.Nodes[k.self.Rank] {
			on++
		}
	}
	need := float64(on) * float64(k.source+k.sink)
	if !k.spec.VRAM() { // a GPU reports a lack of memory itself
		if err := k.checkFree(o, fmt.Sprintf("%d ranks with their buffers need", on), need); err != nil {
			return nil, err
		}
	}
	text, err := fabric.Lines(k.fabric, k.options)
	if err != nil {
		return nil, err
	}
	name, lines := C.CString(k.fabric), C.CString(text)
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(lines))
	start := time.Now()
	cfg := C.struct_weir_config{
		fabric: name, rank: C.int(k.self.Rank), ranks: C.int(k.launch.Ranks), one_host: oneHost(k.launch.Nodes),
		source: kind(o, o.Initiator), sink: kind(o, o.Target), options: lines,
		layout: C.struct_weir_layout{ // as with the libraries, memory is untouched before a block is written to it
			source: C.uint64_t(area(uint64(k.source))), sink: C.uint64_t(area(uint64(k.sink))),
		},
		pages: pages[o.Pages], numa: numa(o.Placement()), in_flight: 1, batch: 1, share: 1,
		gpu: C.uint(indexOnHost(k.launch.Nodes, k.self.Rank)),
	}
	if err := k.openThreads(cfg); err != nil {
		return nil, err
	}
	l := C.weir_lifecycle_of(k.threads[0])
	return stepTimes(time.Since(start), 0, l.open, l.alloc, l.clear, l.registering), nil
}

// connectAll connects to all peers, for the first time or again.
func (k *controlCase) connectAll() ([]int64, error) {
	start := time.Now()
	if !k.spec.Storm && k.self.Rank > 0 {
		if err := k.inbox.Await(k.ctx, k.self.Rank-1); err != nil {
			return nil, err
		}
	}
	mine, err := k.address()
	if err != nil {
		return nil, err
	}
	mine = sealAddress(mine)
	k.mesh.Broadcast(mine)
	published := time.Since(start)
	addresses, err := k.inbox.Take(k.ctx)
	if err != nil {
		return nil, err
	}
	come := time.Since(start)
	addresses[k.self.Rank] = mine
	blobs := make([][][]byte, len(addresses))
	for i, a := range addresses {
		all, err := k.openAddress(i, a)
		if err == nil {
			blobs[i], err = k.split(i, all)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := k.connect(blobs); err != nil {
		return nil, err
	}
	k.touches++
	if err := k.each(func(_ int, t *C.struct_weir_rank, e *C.struct_weir_err) C.int {
		return C.weir_touch(t, C.uint64_t(k.touches), C.int64_t(k.corrupt), k.timeout, e)
	}); err != nil {
		return nil, err
	}
	l := C.weir_lifecycle_of(k.threads[0])
	touch := time.Duration(float64(l.touch) * 1e9)
	imported := max(0, time.Since(start)-come-touch) // the remainder
	k.describe()
	return []int64{published.Nanoseconds(), (come - published).Nanoseconds(), imported.Nanoseconds(),
		touch.Nanoseconds()}, nil
}

func (k *controlCase) disconnect() ([]int64, error) {
	start := time.Now()
	if err := k.each(func(_ int, t *C.struct_weir_rank, e *C.struct_weir_err) C.int {
		return C.weir_disconnect(t, k.timeout, e)
	}); err != nil {
		return nil, err
	}
	l := C.weir_lifecycle_of(k.threads[0])
	return stepTimes(time.Since(start), 1, l.quiesce, l.unmap), nil
}

func (k *controlCase) destroy() ([]int64, error) {
	start := time.Now()
	var l C.struct_weir_lifecycle
	if err := k.each(func(_ int, t *C.struct_weir_rank, e *C.struct_weir_err) C.int {
		return C.weir_destroy(t, k.timeout, &l, e)
	}); err != nil {
		return nil, err
	}
	k.threads = nil
	return stepTimes(time.Since(start), 1, l.unregister, l.free), nil
}

// describe records the fabric's description of its connections.
func (k *controlCase) describe() {
	if k.facts.Transport != "" {
		return
	}
	var transport [C.WEIR_TEXT]C.char
	var carriers [C.WEIR_CARRIERS]C.char
	C.weir_describe(k.threads[0], &transport[0], &carriers[0])
	k.facts.Transport = C.GoString(&transport[0])
	k.facts.Transports = transports(C.GoString(&carriers[0]), k.self.Rank, true)
	k.facts.Provider = providerFacts(C.GoString(&carriers[0]), k.self.Rank, true)
	k.facts.Libraries = k.loadedLibraries()
}

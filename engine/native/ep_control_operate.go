package native

/*
#include "weir.h"
*/
import "C"

import (
	"time"
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
	if !k.spec.VRAM() { // a GPU reports a lack of memory itself
		if err := k.checkRoom(o, "buffers", uint64(k.source+k.sink)); err != nil {
			return nil, err
		}
	}
	a := &cArrays{}
	defer a.free()
	// as with the libraries, memory is untouched before a block is written to it
	cfg, err := k.config(a, o, k.options, layout{source: area(uint64(k.source)), sink: area(uint64(k.sink))})
	if err != nil {
		return nil, err
	}
	start := time.Now()
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
	if err := k.connectTo(addresses, func(_ int, address []byte) ([]byte, error) { return address, nil }); err != nil {
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
	k.facts.Transport, k.facts.Transports, k.facts.Provider = k.connections()
	k.facts.Libraries = k.loadedLibraries()
}

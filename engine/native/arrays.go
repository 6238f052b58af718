package native

/*
#include <stdlib.h>
*/
import "C"

import "unsafe"

// cArrays are lists and texts in C memory that are freed together: memory passed to C must not contain Go pointers.
type cArrays struct{ all []unsafe.Pointer }

func (a *cArrays) free() {
	for _, p := range a.all {
		C.free(p)
	}
}

func (a *cArrays) text(s string) *C.char {
	c := C.CString(s)
	a.all = append(a.all, unsafe.Pointer(c))
	return c
}

func newList[T any](a *cArrays, n int) []T {
	var zero T
	p := C.calloc(C.size_t(n+1), C.size_t(unsafe.Sizeof(zero)))
	if p == nil {
		panic("out of memory")
	}
	a.all = append(a.all, p)
	return unsafe.Slice((*T)(p), n)
}

func listOf[G, T any](a *cArrays, from []G, convert func(G) T) []T {
	list := newList[T](a, len(from))
	for i, v := range from {
		list[i] = convert(v)
	}
	return list
}

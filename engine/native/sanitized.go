//go:build sanitized

package native

// The C engine under AddressSanitizer and UBSan inside of the real program, for
// test/sanitized/run. Go's own -asan would compile all of Go's library anew for what
// engine_test looks for already: leaks. ThreadSanitizer has no such build: its C runtime
// and the one inside of Go's race detector cannot be in one process, and without the
// detector it takes each of Go's own ways to synchronise for none.

// #cgo CFLAGS: -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined
// #cgo LDFLAGS: -fsanitize=address,undefined
import "C"

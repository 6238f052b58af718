//go:build sanitize_address

package native

// The C engine under AddressSanitizer and UBSan inside of the real program, for
// test/sanitized/run. Go's own -asan would compile all of Go's library anew for what
// engine_test looks for already: leaks.

// #cgo CFLAGS: -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined
// #cgo LDFLAGS: -fsanitize=address,undefined
import "C"

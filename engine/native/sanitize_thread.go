//go:build sanitize_thread

package native

// The C engine under ThreadSanitizer inside of the real program, for test/sanitized/run.
// What it sees is the threads of one rank: ranks are processes of their own, and Go's
// own code is not built for it (cgo tells it of each call, that is all).

// #cgo CFLAGS: -O1 -g -fno-omit-frame-pointer -fsanitize=thread
// #cgo LDFLAGS: -fsanitize=thread
import "C"

//go:build race

package arrival

import "syscall"

// observe tells the race detector that a peer in this process happened before the read, as package syscall does; a
// plain recvmsg does not.
func observe(fd uintptr) { _, _ = syscall.Read(int(fd), nil) }

// Package rlimit checks the resource limits of this process (setrlimit(2)) before a session starts:
// libraries and the Go runtime crash when they reach a limit.
package rlimit

import (
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Needs are the needs of a process and its children.
type Needs struct {
	Descriptors  int    // file descriptors of this process
	AddressSpace uint64 // of this process, in bytes
	Threads      int    // additional threads of all processes of this user
}

// TryThreads reports whether a number of threads can be created now; nil if it cannot be tried.
var TryThreads func(threads int) bool

// manyThreads is the limit from which on threads are not tried.
const manyThreads = 4096

// Check is an error if a limit is too low.
func Check(n Needs) error {
	if most, bounded := limit(unix.RLIMIT_NOFILE); bounded && most < uint64(n.Descriptors) {
		return fmt.Errorf("this process may have %d files open and needs %d: raise the limit with ulimit -n", most,
			n.Descriptors)
	}
	if most, bounded := limit(unix.RLIMIT_AS); bounded && most < n.AddressSpace {
		return fmt.Errorf("this process may have %d KiB of address space and needs %d: raise the limit with ulimit -v",
			most>>10, n.AddressSpace>>10)
	}
	if most, few := fewThreads(); few && TryThreads != nil && !TryThreads(n.Threads) {
		return fmt.Errorf("this user may have %d processes and threads, which does not leave the %d more that are needed: raise the limit with ulimit -u",
			most, n.Threads)
	}
	return nil
}

// HoldThreads creates n threads in advance if the limit is low: the Go runtime keeps them idle for later use.
func HoldThreads(n int) {
	if _, few := fewThreads(); !few {
		return
	}
	var locked, ended sync.WaitGroup
	release := make(chan struct{})
	for range n {
		locked.Add(1)
		ended.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			locked.Done()
			<-release
		})
	}
	locked.Wait()
	close(release)
	ended.Wait()
}

func fewThreads() (most uint64, few bool) {
	most, bounded := limit(unix.RLIMIT_NPROC)
	return most, bounded && most < manyThreads
}

// limit is the soft limit of a resource.
func limit(resource int) (most uint64, bounded bool) {
	var l unix.Rlimit
	if unix.Getrlimit(resource, &l) != nil {
		return 0, false
	}
	return l.Cur, l.Cur != unix.RLIM_INFINITY
}

// Package rlimit says, before a session starts anything, whether the limits of this
// process (setrlimit(2)) leave room for it, and what to do if they do not. Libraries and
// the Go runtime end the whole program where they are short of these.
package rlimit

import (
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// Needs are what a process and those that it starts need.
type Needs struct {
	Descriptors  int    // of files, in this process
	AddressSpace uint64 // bytes, of this process
	Threads      int    // more than there are now, of all processes of this user
}

// TryThreads says whether so many more threads can be made now; nil: nobody can tell.
var TryThreads func(threads int) bool

// manyThreads is a limit of processes and threads that nobody reaches: with a higher one
// none are tried.
const manyThreads = 4096

// Check says what the limits do not leave room for.
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

// HoldThreads makes sure that this process has so many idle threads, where there may be
// none left when it needs them: the runtime keeps those that it has made.
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

// limit is the soft limit of a resource, if it has one.
func limit(resource int) (most uint64, bounded bool) {
	var l unix.Rlimit
	if unix.Getrlimit(resource, &l) != nil {
		return 0, false
	}
	return l.Cur, l.Cur != unix.RLIM_INFINITY
}

//go:build !linux

package child

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// DieWithThread does nothing here.
func DieWithThread(*syscall.SysProcAttr) {}

// AwaitEnd returns when a child has ended. Its exit status is not taken.
func AwaitEnd(pid int) { _, _ = exits(pid, nil) }

// Ended reports whether a child has ended, without taking its exit status.
func Ended(pid int) bool {
	n, err := exits(pid, &unix.Timespec{})
	return n > 0 || err != nil
}

// exits waits for the end of a process with kqueue(2). An error means that there is no such process, or only
// its exit status.
func exits(pid int, within *unix.Timespec) (int, error) {
	queue, err := unix.Kqueue()
	if err != nil {
		return 0, err
	}
	defer unix.Close(queue)
	change := make([]unix.Kevent_t, 1)
	unix.SetKevent(&change[0], pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change[0].Fflags = unix.NOTE_EXIT
	for {
		n, err := unix.Kevent(queue, change, make([]unix.Kevent_t, 1), within)
		if err != unix.EINTR {
			return n, err
		}
	}
}

// Package child ends children with their parent, and sees their ends without reaping them.
package child

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// DieWithThread has the kernel kill a process when the thread that starts it ends (prctl(2),
// PR_SET_PDEATHSIG): the thread must be locked for the life of the process. On other systems than Linux a
// process outlives a killed parent.
func DieWithThread(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// AwaitEnd returns when a child has ended. Its exit status is not taken, so its process ID is not reused.
func AwaitEnd(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// Ended reports whether a child has ended, without taking its exit status.
func Ended(pid int) bool {
	var info unix.Siginfo
	err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return errors.Is(err, unix.ECHILD) || err == nil && info.Signo == int32(unix.SIGCHLD)
}

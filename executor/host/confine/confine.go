// Package confine drops privileges of ranks, runs them as another user, and disables core dumps of processes
// with keys.
package confine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// needed are the capabilities of ranks: for locking memory, and for placing memory and threads.
var needed = map[uintptr]bool{unix.CAP_IPC_LOCK: true, unix.CAP_SYS_NICE: true}

// Thread drops the privileges of this thread and of the processes that it starts: set-user-ID programs have
// no effect, and only the needed capabilities remain. It cannot be undone: the thread must not be reused.
func Thread() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbidding new privileges: %w", err)
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if needed[c] {
			continue
		}
		// EINVAL: the kernel does not know the capability
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_LOWER, c, 0, 0); err != nil &&
			!errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("dropping an ambient capability: %w", err)
		}
		// EPERM: an unprivileged user has none to drop
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil &&
			!errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("dropping a capability: %w", err)
		}
	}
	return nil
}

// NoDumps disables core dumps of this process, and ptrace by other processes of its user. Children are not
// affected.
func NoDumps() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("turning off core dumps: %w", err)
	}
	return nil
}

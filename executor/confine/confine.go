// Package confine takes from processes what they have no use for: privileges of ranks, the user
// that started their agent, and the core dumps of whoever holds keys.
package confine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// needed are the capabilities that a rank may have use for: to lock its buffers into memory, and
// to place its memory and threads.
var needed = map[uintptr]bool{unix.CAP_IPC_LOCK: true, unix.CAP_SYS_NICE: true}

// Thread takes from this thread, and from what it starts from now on, the way to more privileges:
// programs with a set-user-id bit give none, and what root starts has no capabilities but those
// that are needed. It cannot be undone, so the thread must end with what it was for.
func Thread() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbidding new privileges: %w", err)
	}
	for c := uintptr(0); c <= unix.CAP_LAST_CAP; c++ {
		if needed[c] {
			continue
		}
		// a kernel that does not know it has none to drop
		if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_LOWER, c, 0, 0); err != nil &&
			!errors.Is(err, unix.EINVAL) {
			return fmt.Errorf("dropping an ambient capability: %w", err)
		}
		// EPERM is of who has no privileges to drop any, as most users
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil &&
			!errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("dropping a capability: %w", err)
		}
	}
	return nil
}

// NoDumps keeps what this process has in memory from being written into a core dump, and from
// being read by other processes of its user. Its children are not affected.
func NoDumps() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("turning off core dumps: %w", err)
	}
	return nil
}

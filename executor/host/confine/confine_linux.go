package confine

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

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

// Starts sets the credentials of a new process to the user, with the capabilities that ranks need.
func (u *User) Starts(attr *syscall.SysProcAttr) {
	if u == nil || os.Geteuid() != 0 {
		return
	}
	attr.Credential = &syscall.Credential{Uid: u.uid, Gid: u.gid, Groups: u.groups}
	if u.uid == 0 {
		return
	}
	for c := range needed {
		if has(c) {
			attr.AmbientCaps = append(attr.AmbientCaps, c)
		}
	}
	slices.Sort(attr.AmbientCaps)
}

// has reports whether this process has a permitted capability, which a container may lack.
func has(c uintptr) bool {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&head, &data[0]) == nil && data[c/32].Permitted&(1<<(c%32)) != 0
}

// Opens gives the thread of the calling goroutine the user's file system rights. The goroutine must end
// without unlocking its thread, which ends with it.
func (u *User) Opens() error {
	if u == nil || os.Geteuid() != 0 {
		return nil
	}
	runtime.LockOSThread()
	groups := append(slices.Clone(u.groups), u.gid)
	// raw system calls, for this thread alone
	_, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])), 0)
	if e != 0 {
		return fmt.Errorf("becoming user %s: %w", u, e)
	}
	for _, set := range []struct{ call, id uintptr }{
		{unix.SYS_SETFSGID, uintptr(u.gid)}, {unix.SYS_SETFSUID, uintptr(u.uid)},
	} {
		_, _, _ = unix.RawSyscall(set.call, set.id, 0, 0) // returns the former ID
		if now, _, _ := unix.RawSyscall(set.call, ^uintptr(0), 0, 0); now != set.id {
			return fmt.Errorf("becoming user %s: not permitted", u)
		}
	}
	return nil
}

//go:build !linux

package confine

import (
	"fmt"
	"os"
	"syscall"
)

// Thread does nothing: this system has no such privileges.
func Thread() error { return nil }

// NoDumps does nothing.
func NoDumps() error { return nil }

// Starts sets the credentials of a new process to the user.
func (u *User) Starts(attr *syscall.SysProcAttr) {
	if u != nil && os.Geteuid() == 0 {
		attr.Credential = &syscall.Credential{Uid: u.uid, Gid: u.gid, Groups: u.groups}
	}
}

// Opens is an error for another user: file system rights of one thread are those of Linux.
func (u *User) Opens() error {
	if u == nil || os.Geteuid() != 0 {
		return nil
	}
	return fmt.Errorf("becoming user %s: not supported on this system", u)
}

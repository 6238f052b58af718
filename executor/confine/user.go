package confine

import (
	"fmt"
	"os"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// User is whom processes run as; nil is the user of this process.
type User struct {
	uid, gid uint32
	groups   []uint32
	name     string // "": it has none here
	home     string
}

// ParseUser reads the name or number of a user, with a group behind a colon if it is not the
// user's own.
func ParseUser(text string) (*User, error) {
	who, group, given := strings.Cut(text, ":")
	u := &User{home: "/"}
	known, err := user.Lookup(who)
	if err != nil {
		known, err = user.LookupId(who)
	}
	if err == nil {
		u.name, u.home = known.Username, known.HomeDir
		ids, _ := known.GroupIds() // those that cannot be listed it goes without
		for _, id := range ids {
			if n, err := number(id); err == nil {
				u.groups = append(u.groups, n)
			}
		}
		u.uid, err = number(known.Uid)
		if err == nil {
			u.gid, err = number(known.Gid)
		}
	} else if u.uid, err = number(who); err == nil {
		u.gid = u.uid
	}
	if err != nil {
		return nil, fmt.Errorf("user %q is not known on this host", who)
	}
	if !given {
		return u, nil
	}
	if found, err := user.LookupGroup(group); err == nil {
		group = found.Gid
	}
	if u.gid, err = number(group); err != nil {
		return nil, fmt.Errorf("group %q is not known on this host", group)
	}
	u.groups = nil // those are the user's own
	return u, nil
}

func number(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// Possible says why this process cannot start others as the user, nil if it can.
func (u *User) Possible() error {
	if u == nil || os.Geteuid() == 0 || int(u.uid) == os.Geteuid() && int(u.gid) == os.Getegid() {
		return nil
	}
	return fmt.Errorf("only root can start processes as user %s", u)
}

// Root says whether what this process starts is root's.
func (u *User) Root() bool {
	if u == nil {
		return os.Geteuid() == 0
	}
	return u.uid == 0
}

func (u *User) String() string {
	if u.name != "" {
		return u.name
	}
	return strconv.FormatUint(uint64(u.uid), 10)
}

// Starts has a process that is about to be started be the user's. Of root's privileges it keeps
// what ranks need.
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

// has says whether this process may pass on a capability: a container may have taken it.
func has(c uintptr) bool {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&head, &data[0]) == nil && data[c/32].Permitted&(1<<(c%32)) != 0
}

// Own makes the user the owner of a file.
func (u *User) Own(path string) error {
	if u == nil || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(u.uid), int(u.gid))
}

// Environment is that of this process with what names its user.
func (u *User) Environment(own []string) []string {
	if u == nil {
		return own
	}
	own = slices.DeleteFunc(slices.Clone(own), func(pair string) bool {
		name, _, _ := strings.Cut(pair, "=")
		return name == "HOME" || name == "USER" || name == "LOGNAME" || strings.HasPrefix(name, "XDG_")
	})
	return append(own, "HOME="+u.home, "USER="+u.String(), "LOGNAME="+u.String())
}

// Opens has the calling goroutine open files as the user would. It must end without doing
// anything else: its thread, which ends with it, has the user's rights to files from now on.
func (u *User) Opens() error {
	if u == nil || os.Geteuid() != 0 {
		return nil
	}
	runtime.LockOSThread()
	groups := append(slices.Clone(u.groups), u.gid)
	// of this thread alone, which package syscall has no function for
	_, _, e := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(unsafe.Pointer(&groups[0])), 0)
	if e != 0 {
		return fmt.Errorf("becoming user %s: %w", u, e)
	}
	for _, set := range []struct{ call, id uintptr }{
		{unix.SYS_SETFSGID, uintptr(u.gid)}, {unix.SYS_SETFSUID, uintptr(u.uid)},
	} {
		_, _, _ = unix.RawSyscall(set.call, set.id, 0, 0) // gives the one of before
		if now, _, _ := unix.RawSyscall(set.call, ^uintptr(0), 0, 0); now != set.id {
			return fmt.Errorf("becoming user %s: not permitted", u)
		}
	}
	return nil
}

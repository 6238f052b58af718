// Package confine drops privileges of ranks, runs them as another user, and disables core dumps of processes
// with keys. Without Linux it only runs them as another user.
package confine

import (
	"fmt"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"
)

// User is a user for processes; nil is the user of this process.
type User struct {
	uid, gid uint32
	groups   []uint32
	name     string // "" if only the number is known
	home     string
}

// ParseUser parses USER[:GROUP], by names or numbers. The default is the user's own group.
func ParseUser(text string) (*User, error) {
	name, group, given := strings.Cut(text, ":")
	u := &User{home: "/"}
	known, err := user.Lookup(name)
	if err != nil {
		known, err = user.LookupId(name)
	}
	if err == nil {
		u.name, u.home = known.Username, known.HomeDir
		ids, _ := known.GroupIds() // none on an error
		for _, id := range ids {
			if n, err := number(id); err == nil {
				u.groups = append(u.groups, n)
			}
		}
		u.uid, err = number(known.Uid)
		if err == nil {
			u.gid, err = number(known.Gid)
		}
	} else if u.uid, err = number(name); err == nil {
		u.gid = u.uid
	}
	if err != nil {
		return nil, fmt.Errorf("user %q is not known on this host", name)
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
	u.groups = nil // no supplementary groups with an explicit group
	return u, nil
}

func number(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	return uint32(n), err
}

// Possible is an error if this process cannot start processes as the user.
func (u *User) Possible() error {
	if u == nil || os.Geteuid() == 0 || int(u.uid) == os.Geteuid() && int(u.gid) == os.Getegid() {
		return nil
	}
	return fmt.Errorf("only root can start processes as user %s", u)
}

// Root reports whether processes run as root.
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

// Own makes the user the owner of a file.
func (u *User) Own(path string) error {
	if u == nil || os.Geteuid() != 0 {
		return nil
	}
	return os.Lchown(path, int(u.uid), int(u.gid))
}

// Environment replaces the variables that name the user.
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

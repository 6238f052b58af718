package readiness

import (
	"fmt"
	"github.com/weir-bench/weir/internal/child"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// foreignPatience is how long another process may keep the address, since it may be ending.
const foreignPatience = 2 * time.Second

// foreignError says that another process has the address of the subject.
type foreignError struct{ text string }

func (e *foreignError) Error() string { return e.text }

// has reports whether one of the sockets belongs to the subject: to its process or to one that
// began later, like the daemon of a container. If the process is unknown, the socket must not have
// listened when the subject started.
func (s Subject) has(sockets []string) error {
	if s.PID == 0 {
		return nil
	}
	owners := ownersOf(sockets)
	began, known := child.StatOf(s.PID)
	var other string
	for _, inode := range sockets {
		pids := owners[inode]
		if len(pids) == 0 && !slices.Contains(s.Listened, inode) {
			return nil
		}
		for _, pid := range pids {
			at, ok := child.StatOf(pid)
			if !known || ok && at.Start >= began.Start {
				return nil
			}
			other = fmt.Sprintf("process %d (%s)", pid, nameOf(pid))
		}
	}
	if other == "" {
		other = "a process of another user"
	}
	return &foreignError{other + " has been listening there since before this program started: end it, or give the program " +
		"a free port, as ${port.NAME}"}
}

// ownersOf returns the processes that have sockets, by inode, as far as this process may see them.
func ownersOf(sockets []string) map[string][]int {
	owners := map[string][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*/fd") // only a bad pattern is an error
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended, or belongs to another user
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir)))
		for _, f := range files {
			to, err := os.Readlink(filepath.Join(dir, f.Name()))
			inode, is := strings.CutPrefix(to, "socket:[")
			if inode = strings.TrimSuffix(inode, "]"); err == nil && is && slices.Contains(sockets, inode) {
				owners[inode] = append(owners[inode], pid)
			}
		}
	}
	return owners
}

func nameOf(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(text))
}

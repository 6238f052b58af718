package readiness

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// foreignPatience is how long a process that is not of the subject may keep its address: one that
// is just ending may.
const foreignPatience = 2 * time.Second

// foreignError says that others have what the subject is to have.
type foreignError struct{ text string }

func (e *foreignError) Error() string { return e.text }

// has says whether one of the sockets is of the subject: a process has it that is the subject's or
// began later, as the daemon of a container does. Where the process is not known, it must not have
// listened when the subject started.
func (s Subject) has(sockets []string) error {
	if s.PID == 0 {
		return nil
	}
	owners := ownersOf(sockets)
	began, known := startOf(s.PID)
	var other string
	for _, inode := range sockets {
		pids := owners[inode]
		if len(pids) == 0 && !slices.Contains(s.Listened, inode) {
			return nil
		}
		for _, pid := range pids {
			at, ok := startOf(pid)
			if !known || ok && at >= began {
				return nil
			}
			other = fmt.Sprintf("process %d (%s)", pid, nameOf(pid))
		}
	}
	if other == "" {
		other = "a process of another user"
	}
	return &foreignError{other + " listens there, since before this program started: end it, or give the program " +
		"a port that is free, as ${port.NAME}"}
}

// ownersOf are the processes that have sockets, by their inodes; those that this process may look at.
func ownersOf(sockets []string) map[string][]int {
	owners := map[string][]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*/fd") // only a bad pattern is an error
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended, or is another user's
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

// startOf is when a process began, in ticks of the kernel's clock, from its stat, proc(5). The name
// before may hold anything but is in parentheses.
func startOf(pid int) (ticks uint64, ok bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 20 {
		return 0, false
	}
	ticks, err = strconv.ParseUint(fields[19], 10, 64)
	return ticks, err == nil
}

func nameOf(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(string(text))
}

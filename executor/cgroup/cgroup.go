// Package cgroup keeps processes together in a control group of their own, where the
// kernel and whoever rules this host permit it (version 2; the folder of this process's
// own group must be writable, as with systemd's Delegate=yes, in a container with a group
// of its own, or as root; Linux 5.14 or newer). What is in the group cannot leave it, as it can a process
// group: it ends together, and together it uses no more than it may.
package cgroup

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Limits are what the processes of a group may use together. 0: as much as there is.
type Limits struct {
	Memory uint64 // bytes, shared memory and page cache among them
	Tasks  uint64 // processes and threads
}

// Group is a control group below that of this process.
type Group struct {
	dir  string
	lock *os.File // of the folder: the kernel drops it with this process, however that ends
	of   Limits   // those that hold
}

// prefix of the folders, which nobody else would give: one that is not locked is removed.
const prefix = "weir-ranks."

// Make makes a group, after it has removed those of processes that no longer live. Of the
// limits it sets those that the kernel lets it (Limits says which). An error says what is
// not permitted.
func Make(l Limits) (*Group, error) {
	own, err := here()
	if err != nil {
		return nil, err
	}
	return makeIn(own, l)
}

// Sweep ends what processes that no longer live have left in groups that they made beside
// those of this one. It is best effort: what it cannot end, the next tries again.
func Sweep() {
	if own, err := here(); err == nil {
		sweep(own)
	}
}

// here is the group below which this process makes its own.
func here() (string, error) {
	own, err := find(os.DirFS("/"))
	if err == nil && filepath.Base(own) == apart {
		own = filepath.Dir(own)
	}
	return own, err
}

func makeIn(own string, l Limits) (*Group, error) {
	if err := unix.Access(filepath.Join(own, "cgroup.procs"), unix.W_OK); err != nil { // processes may come out of here
		return nil, fmt.Errorf("the control group %s is not this process's to divide: %w", own, err)
	}
	sweep(own)
	g, err := claim(own)
	if err != nil {
		return nil, fmt.Errorf("making a control group: %w", err)
	}
	divided := l != (Limits{}) && divide(own)
	for _, c := range []struct {
		controller, file string
		value            uint64
		holds            *uint64
	}{{"memory", "memory.max", l.Memory, &g.of.Memory}, {"pids", "pids.max", l.Tasks, &g.of.Tasks}} {
		if c.value > 0 && divided && control(own, c.controller) &&
			write(filepath.Join(g.dir, c.file), strconv.FormatUint(c.value, 10)) == nil {
			*c.holds = c.value
		}
	}
	if err := g.try(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a process in a control group: %w", err), g.Remove())
	}
	return g, nil
}

// apart is the group that this process goes into where it is in the way: a group may have
// processes or divide what it has among groups, not both.
const apart = "weir-agent"

// divide says whether the groups below own may be given shares of what it has, after this
// process has gone out of the way, if it is alone there. The kernel would let one controller
// of tasks be shared although there are processes, but then takes none in the groups below.
func divide(own string) bool {
	if _, err := os.Stat(filepath.Join(own, "cgroup.type")); err != nil {
		return true // the root, which may have both
	}
	all, err := os.ReadFile(filepath.Join(own, "cgroup.procs"))
	if err != nil || len(bytes.TrimSpace(all)) == 0 {
		return err == nil
	}
	if strings.TrimSpace(string(all)) != strconv.Itoa(os.Getpid()) {
		return false // others are not this process's to move
	}
	dir := filepath.Join(own, apart)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return false
	}
	return write(filepath.Join(dir, "cgroup.procs"), "0") == nil
}

// control has the groups below own share a resource, if that is permitted.
func control(own, controller string) bool {
	return write(filepath.Join(own, "cgroup.subtree_control"), "+"+controller) == nil
}

// try starts a process in the group: what keeps the kernel from it shows nowhere else.
func (g *Group) try() error {
	program, err := exec.LookPath("true")
	if err != nil {
		return nil // nobody knows, then
	}
	cmd := exec.Command(program)
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: g.FD()}
	return cmd.Run()
}

// claim makes the folder and locks it. One that nobody has locked yet another process may
// take for one that was left, and remove.
func claim(own string) (*Group, error) {
	for range 10 {
		dir, err := os.MkdirTemp(own, prefix)
		if err != nil {
			return nil, err
		}
		f, err := os.Open(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, errors.Join(err, os.Remove(dir))
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_, err := os.Stat(filepath.Join(dir, "cgroup.kill"))
			if err == nil {
				return &Group{dir: dir, lock: f}, nil
			}
			if _, gone := os.Stat(dir); gone == nil {
				f.Close()
				return nil, errors.Join(fmt.Errorf("a group cannot be killed at once, as of Linux 5.14: %w", err),
					os.Remove(dir))
			}
		}
		f.Close()
	}
	return nil, errors.New("others keep removing it")
}

// FD is a descriptor of the group, to start processes in.
func (g *Group) FD() int { return int(g.lock.Fd()) }

// Limits are those that hold.
func (g *Group) Limits() Limits { return g.of }

// Starved is how many processes of the group the kernel has killed so far for want of
// memory; 0 also where it does not tell.
func (g *Group) Starved() int {
	b, err := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	if err != nil {
		return 0
	}
	return int(counted(b, "oom_kill"))
}

// Remove ends what is in the group, and the group.
func (g *Group) Remove() error {
	defer g.lock.Close()
	if err := end(g.dir); err != nil {
		return fmt.Errorf("removing the control group %s: %w", g.dir, err)
	}
	return nil
}

// unkillable is how long processes may outlive SIGKILL before nobody waits for them.
const unkillable = 5 * time.Second

func end(dir string) error {
	if err := write(filepath.Join(dir, "cgroup.kill"), "1"); err != nil {
		return err
	}
	for begun := time.Now(); ; time.Sleep(time.Millisecond) {
		err := unix.Rmdir(dir)
		if err == nil || errors.Is(err, unix.ENOENT) || time.Since(begun) > unkillable {
			return err
		}
	}
}

// sweep removes groups whose makers no longer live, with what still runs in them.
func sweep(own string) {
	found, _ := filepath.Glob(filepath.Join(own, prefix+"*")) // only a bad pattern is an error
	for _, dir := range found {
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = end(dir)
		}
		f.Close()
	}
}

// find is the folder of the group in which this process is.
func find(root fs.FS) (string, error) {
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return "", fmt.Errorf("looking for control groups: %w", err)
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("looking for this process's control group: %w", err)
	}
	for line := range strings.Lines(string(groups)) {
		group, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		if at := mountOf(mounts, "cgroup2", "", group); at != "" {
			return at, nil
		}
	}
	return "", errors.New("no control groups of version 2 are mounted here that have this process's")
}

// mountOf is where a group of a version is mounted (cgroup2, or cgroup with a controller), "" if nowhere. Of a mount
// the lines of mountinfo (proc(5)) have: id, parent, device, root, mount point, options, optional
// fields, a hyphen, the type, the source, the options of the file system.
func mountOf(mounts []byte, version, controller, group string) string {
	lines := bufio.NewScanner(bytes.NewReader(mounts))
	for lines.Scan() {
		before, after, ok := strings.Cut(lines.Text(), " - ")
		f := strings.Fields(before)
		kind, options, _ := strings.Cut(after, " ")
		_, options, _ = strings.Cut(options, " ")
		if !ok || len(f) < 6 || kind != version ||
			controller != "" && !slices.Contains(strings.Split(options, ","), controller) {
			continue
		}
		rel, err := filepath.Rel(unescape(f[3]), group)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, "../") && !strings.HasPrefix(group, "/..") {
			return filepath.Join(unescape(f[4]), rel)
		}
	}
	return ""
}

// unescape undoes what the kernel does to blanks in mountinfo.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

// Room is how many bytes of memory are left to a group, or where g is nil to that of this
// process, by the bounds of it and of those that it is in; false: none has one. Page cache
// that nobody uses counts as left.
func (g *Group) Room() (bytes uint64, bounded bool) {
	dir := ""
	if g != nil {
		dir = g.dir
	} else if own, err := find(os.DirFS("/")); err == nil {
		dir = own
	}
	return room(os.DirFS("/"), strings.TrimPrefix(dir, "/"))
}

func room(root fs.FS, dir string) (bytes uint64, bounded bool) {
	for ; dir != "" && dir != "."; dir = path.Dir(dir) {
		most, err := fs.ReadFile(root, path.Join(dir, "memory.max"))
		limit, isNumber := strconv.ParseUint(strings.TrimSpace(string(most)), 10, 64)
		if err != nil || isNumber != nil { // above the groups, or a group without a bound: "max"
			continue
		}
		current, _ := fs.ReadFile(root, path.Join(dir, "memory.current")) // absent, nothing is used
		stat, _ := fs.ReadFile(root, path.Join(dir, "memory.stat"))
		used, _ := strconv.ParseUint(strings.TrimSpace(string(current)), 10, 64)
		used -= min(used, counted(stat, "inactive_file"))
		if left := limit - min(limit, used); !bounded || left < bytes {
			bytes, bounded = left, true
		}
	}
	return bytes, bounded
}

func counted(text []byte, name string) uint64 {
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			n, _ := strconv.ParseUint(f[1], 10, 64) // the kernel writes numbers
			return n
		}
	}
	return 0
}

func write(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0) // not created: that a file is not there has a meaning
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

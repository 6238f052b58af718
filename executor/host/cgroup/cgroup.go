// Package cgroup runs processes in a child cgroup, with common limits and a common end. It needs cgroup v2,
// Linux 5.14 or newer, and a writable cgroup of this process (root, systemd's Delegate=yes, or a container
// with its own cgroup). Unlike a process group, processes cannot leave it.
package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/internal/cgroupfs"
)

// Limits are the common limits of the processes of a group. 0: no limit.
type Limits struct {
	Memory uint64 // bytes, shared memory and page cache among them
	Tasks  uint64 // processes and threads
}

// Group is a child cgroup of this process's cgroup.
type Group struct {
	dir  string
	lock *os.File // of the folder; the kernel releases it when this process ends
	of   Limits   // that are in force
}

// prefix of the folders of groups; unlocked ones are leftovers.
const prefix = "weir-ranks."

// Make makes a group, after removing leftovers of dead processes. It sets the limits that the kernel
// permits; Group.Limits returns them.
func Make(l Limits) (*Group, error) {
	own, err := here()
	if err != nil {
		return nil, err
	}
	return makeIn(own, l)
}

// Sweep removes the groups of dead processes, with the processes in them, as far as possible.
func Sweep() {
	if own, err := here(); err == nil {
		sweep(own)
	}
}

// here is the parent of this process's groups.
func here() (string, error) {
	own, err := find(os.DirFS("/"))
	if err == nil && filepath.Base(own) == agentGroup {
		own = filepath.Dir(own)
	}
	return own, err
}

func makeIn(own string, l Limits) (*Group, error) {
	if err := unix.Access(filepath.Join(own, "cgroup.procs"), unix.W_OK); err != nil { // processes move out of here
		return nil, fmt.Errorf("cannot create child cgroups in %s: not delegated to this process: %w", own, err)
	}
	sweep(own)
	g, err := create(own)
	if err != nil {
		return nil, fmt.Errorf("creating a cgroup: %w", err)
	}
	emptied := l != (Limits{}) && empty(own)
	for _, c := range []struct {
		controller, file string
		value            uint64
		set              *uint64
	}{{"memory", "memory.max", l.Memory, &g.of.Memory}, {"pids", "pids.max", l.Tasks, &g.of.Tasks}} {
		if c.value > 0 && emptied && enable(own, c.controller) &&
			write(filepath.Join(g.dir, c.file), strconv.FormatUint(c.value, 10)) == nil {
			*c.set = c.value
		}
	}
	if err := g.try(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a process in a cgroup: %w", err), g.Remove())
	}
	return g, nil
}

// agentGroup is the child cgroup into which this process moves: a cgroup cannot have both processes and
// controllers for its children.
const agentGroup = "weir-agent"

// empty moves this process out of its cgroup if it is the only one there, and reports whether controllers
// can now be enabled. The kernel permits pids with processes in the parent, but then admits none to the
// children.
func empty(own string) bool {
	if _, err := os.Stat(filepath.Join(own, "cgroup.type")); err != nil {
		return true // the root cgroup may have both
	}
	all, err := os.ReadFile(filepath.Join(own, "cgroup.procs"))
	if err != nil || len(bytes.TrimSpace(all)) == 0 {
		return err == nil
	}
	if strings.TrimSpace(string(all)) != strconv.Itoa(os.Getpid()) {
		return false // with processes of others
	}
	dir := filepath.Join(own, agentGroup)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return false
	}
	return write(filepath.Join(dir, "cgroup.procs"), "0") == nil
}

// enable enables a controller for the children of own, if that is permitted.
func enable(own, controller string) bool {
	return write(filepath.Join(own, "cgroup.subtree_control"), "+"+controller) == nil
}

// try starts a process in the group, which is the only way to find out whether the kernel permits it.
func (g *Group) try() error {
	program, err := exec.LookPath("true")
	if err != nil {
		return nil // unknown
	}
	cmd := exec.Command(program)
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	g.Starts(cmd.SysProcAttr)
	return cmd.Run()
}

// create creates the folder and locks it. Another process may sweep it before it is locked: then it tries again.
func create(own string) (*Group, error) {
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
				return nil, errors.Join(fmt.Errorf("the kernel has no cgroup.kill (Linux 5.14 or newer): %w", err),
					os.Remove(dir))
			}
		}
		f.Close()
	}
	return nil, errors.New("other processes keep removing it")
}

// FD is a descriptor of the group, to start processes in.
func (g *Group) FD() int { return int(g.lock.Fd()) }

// Limits are the limits in force.
func (g *Group) Limits() Limits { return g.of }

// Starved is the number of OOM kills in the group so far, 0 if it is unknown.
func (g *Group) Starved() int {
	b, err := os.ReadFile(filepath.Join(g.dir, "memory.events"))
	if err != nil {
		return 0
	}
	return int(cgroupfs.Count(b, "oom_kill"))
}

// Remove kills the processes of the group, and removes it.
func (g *Group) Remove() error {
	defer g.lock.Close()
	if err := end(g.dir); err != nil {
		return fmt.Errorf("removing the cgroup %s: %w", g.dir, err)
	}
	return nil
}

// unkillable is the time limit for processes to end after SIGKILL.
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

// sweep removes unlocked groups, with their processes.
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

// find is the folder of this process's cgroup, of version 2.
func find(root fs.FS) (string, error) {
	dirs, err := cgroupfs.Own(root, "")
	if err != nil {
		return "", err
	}
	if dirs.V2 == "" {
		return "", errors.New("no cgroup v2 with this process is mounted here")
	}
	return dirs.V2, nil
}

func write(file, text string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0) // never created
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

package agent

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/executor/cgroup"
	"weir/quantity"
)

// bounds are what the processes that an agent starts may use: together, where this
// process may make a control group for them, and otherwise, of what was asked for, what
// each may use alone.
type bounds struct {
	asked  cgroup.Limits
	group  *cgroup.Group // nil: not permitted
	reason error         // for which it is not
}

// expendable is by how much likelier the kernel ends a rank than the agent or whatever
// else is on the host, where memory is short: half of what makes it the first of all
// (proc_pid_oom_score_adj(5)).
const expendable = "500"

func newBounds(asked cgroup.Limits) bounds {
	b := bounds{asked: asked}
	b.group, b.reason = cgroup.Make(withDefaults(asked))
	return b
}

// withDefaults leaves the host, where nothing else was asked for, enough to go on with:
// of its memory a twentieth, of its process numbers half.
func withDefaults(l cgroup.Limits) cgroup.Limits {
	var host unix.Sysinfo_t
	if l.Memory == 0 && unix.Sysinfo(&host) == nil {
		l.Memory = uint64(host.Totalram) * uint64(host.Unit) / 20 * 19
	}
	if text, err := os.ReadFile("/proc/sys/kernel/pid_max"); l.Tasks == 0 && err == nil {
		most, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64) // 0 is no limit
		l.Tasks = most / 2
	}
	return l
}

// within has a command begin in the group: what it starts at once is in it, too.
func (b *bounds) within(attr *syscall.SysProcAttr) {
	if b.group != nil {
		attr.UseCgroupFD, attr.CgroupFD = true, b.group.FD()
	}
}

// of bounds a process that has just begun. One that has ended since needs none.
func (b *bounds) of(cmd *exec.Cmd) {
	pid := cmd.Process.Pid
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(expendable), 0)
	held := b.held()
	if n := b.asked.Memory; n > 0 && held.Memory == 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: n, Max: n}, nil)
	}
	if n := b.asked.Tasks; n > 0 && held.Tasks == 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_NPROC, &unix.Rlimit{Cur: n, Max: n}, nil)
	}
}

// held are the limits of the group.
func (b *bounds) held() cgroup.Limits {
	if b.group == nil {
		return cgroup.Limits{}
	}
	return b.group.Limits()
}

// starved is how many processes were killed so far for want of memory, as far as is known.
func (b *bounds) starved() int {
	if b.group == nil {
		return 0
	}
	return b.group.Starved()
}

// free is what ranks have free for buffers, within the bounds of control groups.
func (a *Agent) free() engine.Memory {
	m := engine.FreeMemory(os.DirFS("/"))
	if a.o.Engine != nil {
		return m // they are no processes, and in no group
	}
	a.spawner.begin.Do(a.spawner.threads)
	if room, bounded := a.spawner.bounds.group.Room(); bounded {
		m.Available = min(m.Available, max(room, 1)) // 0 would be that nobody knows
	}
	return m
}

// starvation says whether the process, which was killed, may have been so for want of
// memory.
func (p *process) starvation() string {
	if p.bounds == nil || p.bounds.starved() <= p.starved {
		return ""
	}
	return fmt.Sprintf(" by the kernel, for want of memory, of which all that the session runs here may have %v together,",
		quantity.Size(p.bounds.held().Memory))
}

// close ends all that is left of what was started.
func (b *bounds) close() error {
	if b.group == nil {
		return nil
	}
	return b.group.Remove()
}

// Bounds says in words how an agent that is asked to bounds what it starts on this host.
func Bounds(asked cgroup.Limits) string {
	b := newBounds(asked)
	held := b.held()
	var together, each []string
	add := func(asked, held uint64, words, alone string) {
		switch {
		case held > 0:
			together = append(together, words)
		case asked > 0:
			each = append(each, alone)
		}
	}
	add(asked.Memory, held.Memory, quantity.Size(max(held.Memory, asked.Memory)).String()+" of memory",
		quantity.Size(asked.Memory).String()+" of private memory (RLIMIT_DATA)")
	n := strconv.FormatUint(max(held.Tasks, asked.Tasks), 10)
	add(asked.Tasks, held.Tasks, n+" tasks", n+" tasks of its user (RLIMIT_NPROC, which is no bound for root)")
	var said []string
	if len(together) > 0 {
		said = append(said, "what a session runs here has at most "+strings.Join(together, " and ")+" together")
	}
	if len(each) > 0 {
		said = append(said, "each process has at most "+strings.Join(each, " and "))
	}
	switch {
	case b.reason != nil:
		said = append(said, "no control group: "+b.reason.Error())
	case len(said) == 0:
		said = append(said, "what a session runs here ends together; memory and tasks of control groups are not this process's to divide")
	}
	if err := b.close(); err != nil {
		said = append(said, err.Error())
	}
	return strings.Join(said, "; ")
}

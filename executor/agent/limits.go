package agent

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/executor/host/rlimit"
	"github.com/weir-bench/weir/internal/child"
	"github.com/weir-bench/weir/internal/quantity"
)

// limits bound the resources of the processes that an agent starts: together by a control group if this process may
// create one, otherwise each by rlimits, if limits were requested.
type limits struct {
	asked  cgroup.Limits
	group  *cgroup.Group // nil: this process may not create one
	reason error         // why not
}

// oomScoreAdj makes the kernel's OOM killer prefer ranks to the agent (proc_pid_oom_score_adj(5)).
const oomScoreAdj = "500"

func newLimits(asked cgroup.Limits) limits {
	b := limits{asked: asked}
	b.group, b.reason = cgroup.Make(withDefaults(asked))
	return b
}

// withDefaults sets limits that were not requested to 19/20 of the host's memory and half of its process ids.
func withDefaults(l cgroup.Limits) cgroup.Limits {
	if l.Memory == 0 {
		l.Memory = hostMemory() / 20 * 19
	}
	if text, err := os.ReadFile("/proc/sys/kernel/pid_max"); l.Tasks == 0 && err == nil {
		most, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64) // 0 is no limit
		l.Tasks = most / 2
	}
	return l
}

func (b *limits) joinGroup(attr *syscall.SysProcAttr) {
	if b.group != nil {
		b.group.Starts(attr)
	}
}

// apply limits a process that has just started. Errors are ignored: it may have ended.
func (b *limits) apply(cmd *exec.Cmd) {
	pid := cmd.Process.Pid
	_ = os.WriteFile("/proc/"+strconv.Itoa(pid)+"/oom_score_adj", []byte(oomScoreAdj), 0)
	group := b.groupLimits()
	if n := b.asked.Memory; n > 0 && group.Memory == 0 {
		limitProcess(pid, unix.RLIMIT_DATA, n)
	}
	if n := b.asked.Tasks; n > 0 && group.Tasks == 0 {
		limitProcess(pid, unix.RLIMIT_NPROC, n)
	}
}

func (b *limits) groupLimits() cgroup.Limits {
	if b.group == nil {
		return cgroup.Limits{}
	}
	return b.group.Limits()
}

// oomKills is the number of processes in the group that the kernel killed because memory ran out.
func (b *limits) oomKills() int {
	if b.group == nil {
		return 0
	}
	return b.group.Starved()
}

// freeMemory is the memory that ranks have free for buffers, within the limits of control groups.
func (a *Agent) freeMemory() engine.Memory {
	m := engine.FreeMemory(os.DirFS("/"))
	if a.o.Engine != nil {
		return m // ranks are goroutines
	}
	a.spawner.begin.Do(a.spawner.startThreads)
	if room, bounded := a.spawner.applied.group.Room(); bounded {
		m.Available = min(m.Available, max(room, 1)) // 0 means unknown
	}
	return m
}

// oomText continues "killed by a signal" if memory has run out since the process started; "": it has not. Without a
// group of the session that of this process counts.
func (p *process) oomText(ended *os.ProcessState) string {
	if p.limits == nil || p.limits.oomKills() <= p.oomKillsBefore {
		if s, ok := signalOf(ended); ok && s == syscall.SIGKILL {
			return child.MemoryKillsSince(p.ownKillsBefore)
		}
		return ""
	}
	return fmt.Sprintf(" by the kernel, out of memory (limit of all processes of the session on this node: %v)",
		quantity.Size(p.limits.groupLimits().Memory))
}

func (b *limits) close() error {
	if b.group == nil {
		return nil
	}
	return b.group.Remove()
}

// DescribeLimits describes to users how an agent applies the requested limits on this host.
func DescribeLimits(asked cgroup.Limits) string {
	b := newLimits(asked)
	group := b.groupLimits()
	var together, each []string
	add := func(asked, group uint64, ofAll, ofEach string) {
		switch {
		case group > 0:
			together = append(together, ofAll)
		case asked > 0:
			each = append(each, ofEach)
		}
	}
	add(asked.Memory, group.Memory, quantity.Size(max(group.Memory, asked.Memory)).String()+" of memory",
		quantity.Size(asked.Memory).String()+" of private memory (RLIMIT_DATA)")
	n := strconv.FormatUint(max(group.Tasks, asked.Tasks), 10)
	add(asked.Tasks, group.Tasks, n+" tasks", n+" tasks of its user (RLIMIT_NPROC, without effect for root)")
	var parts []string
	if len(together) > 0 {
		parts = append(parts, "all processes of a session have at most "+strings.Join(together, " and ")+" together")
	}
	if len(each) > 0 {
		parts = append(parts, "each process has at most "+strings.Join(each, " and "))
	}
	switch {
	case b.reason != nil:
		parts = append(parts, "no control group: "+b.reason.Error())
	case len(parts) == 0:
		parts = append(parts, "all processes of a session end together; no limits: memory and tasks of control groups "+
			"are not delegated to this process")
	}
	if err := b.close(); err != nil {
		parts = append(parts, err.Error())
	}
	return strings.Join(parts, "; ")
}

// Resources of a process with an agent: measured with 2 to 32 ranks on 2 processors, plus a margin.
const (
	ownDescriptors  = 48 // with those of a session and its etcd
	ownThreads      = 12
	ownAddressSpace = 1536 << 20
	rankDescriptors = 4
	rankThreads     = 8       // of its process, besides those that move data, plus one of the agent
	threadSpace     = 9 << 20 // bytes of address space, mostly the stack
)

// Needs are the resources that an agent with this many ranks, and threads that move data, needs on a node.
func Needs(ranks, threads int) rlimit.Needs {
	return rlimit.Needs{
		Descriptors:  ownDescriptors + ranks*rankDescriptors,
		Threads:      ownThreads + ranks*rankThreads + threads,
		AddressSpace: ownAddressSpace + uint64(ranks)*threadSpace,
	}
}

// SharedBytes is the size in bytes of the shared memory of this many threads that move data: UCX takes 5 MB each.
func SharedBytes(threads int) int64 { return int64(threads) * 6 << 20 }

// checkLimits reports which limits are too low for the ranks of a launch, and creates the threads that will wait for
// them, before ranks use up the limit.
func (a *Agent) checkLimits(task *assignment) error {
	if a.o.Engine != nil {
		return nil // ranks are goroutines
	}
	ranks := len(task.Ranks)
	if err := rlimit.Check(Needs(ranks, ranks*task.launch.Threads)); err != nil {
		return err
	}
	rlimit.HoldThreads(ownThreads + ranks)
	return nil
}

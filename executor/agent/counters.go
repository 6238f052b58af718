package agent

import (
	"os"
	"time"

	"weir/executor/cgroup"
	"weir/executor/inventory"
	"weir/results"
)

// counterTime is how long reading a node's counters may take: the driver of a device
// that hangs does not answer, and a launch must end all the same.
const counterTime = 2 * time.Second

// counters reads those of the node, none if it does not answer. It does so before the
// first process of a launch is started and after the last has ended, never meanwhile.
func (a *Agent) counters() inventory.Counters {
	read := make(chan inventory.Counters, 1)
	go func() { read <- inventory.ReadCounters(a.o.Host) }()
	patience := time.NewTimer(counterTime)
	defer patience.Stop()
	select {
	case c := <-read:
		return c
	case <-patience.C:
		return nil
	}
}

// use is what uses the node's processors at an instant, and what weir is let have of them: files that the kernel
// answers by itself.
type use struct {
	load inventory.Load
	cpu  cgroup.CPU
	at   time.Time
}

func (a *Agent) use() use {
	return use{inventory.ReadLoad(a.o.Host, os.Getpid()), cgroup.ReadCPU(a.o.Host), time.Now()}
}

// since is what was on the node since an earlier instant.
func (a *Agent) since(before use) *results.NodeLoad {
	now := a.use()
	took := now.at.Sub(before.at).Seconds()
	n := now.load.Since(before.load, took)
	n.Node, n.CPUs, n.Elapsed, n.Limit = a.o.Node, len(a.cpus), took, now.cpu.Limit
	n.Throttled = max(now.cpu.Throttled-before.cpu.Throttled, 0)
	return &n
}

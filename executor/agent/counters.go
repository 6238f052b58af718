package agent

import (
	"os"
	"time"

	"weir/executor/inventory"
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

// load is what uses the node's processors at this instant: files that the kernel answers by itself.
func (a *Agent) load() inventory.Load { return inventory.ReadLoad(a.o.Host, os.Getpid()) }

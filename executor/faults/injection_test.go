package faults

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"syscall"
	"time"

	"weir/executor/lab"
)

// injection is one thing that is done to a cluster while it has a session.
type injection struct {
	how    string        // as in the table
	target string        // coordinator, agent, rank, etcd, link, host
	node   *node         // of an agent, a link or a host
	after  time.Duration // from the start of the session
	held   time.Duration // until it is undone
}

func (i injection) String() string {
	name := i.how + " " + i.target
	if i.node != nil {
		name += " " + i.node.name
	}
	return fmt.Sprintf("%s after %v for %v", name, i.after.Round(time.Millisecond), i.held.Round(time.Millisecond))
}

// kind is what injections are counted by.
func (i injection) kind() string { return i.how + " " + i.target }

// The ways in which something can be broken.
const (
	killed     = "kill"
	stopped    = "stop" // and continued
	terminated = "term"
	silenced   = "silence"
	unplugged  = "unplug"
	off        = "power off"
)

// draw makes up the n-th injection. Kinds take turns, so that each has its share of any
// number.
func (w *world) draw(r *rand.Rand, n int) injection {
	kinds := []injection{
		{how: killed, target: "coordinator"}, {how: killed, target: "agent"}, {how: killed, target: "rank"}, {how: killed, target: "etcd"},
		{how: stopped, target: "coordinator"}, {how: stopped, target: "agent"}, {how: stopped, target: "rank"}, {how: stopped, target: "etcd"},
		{how: terminated, target: "coordinator"}, {how: terminated, target: "agent"}, {how: terminated, target: "rank"}, {how: terminated, target: "etcd"},
	}
	if w.lab != nil {
		kinds = append(kinds, injection{how: silenced, target: "link"}, injection{how: unplugged, target: "link"}, injection{how: off, target: "host"})
	}
	i := kinds[n%len(kinds)]
	switch i.target {
	case "agent", "link", "host":
		i.node = w.nodes[r.IntN(len(w.nodes))]
	}
	i.after = time.Duration(r.Float64() * float64(w.usual))
	i.held = time.Duration(r.Int64N(int64(6 * time.Second)))
	if i.target == "etcd" {
		i.held = time.Duration(r.Int64N(int64(10 * time.Second)))
	}
	return i
}

// signal is what does it to a process.
func (i injection) signal() syscall.Signal {
	return map[string]syscall.Signal{killed: syscall.SIGKILL, stopped: syscall.SIGSTOP, terminated: syscall.SIGTERM}[i.how]
}

// inject breaks it. It gives how to undo that, and false if there was nothing to break.
func (w *world) inject(r *rand.Rand, i injection, coordinator *exec.Cmd) (undo func(), done bool) {
	switch i.target {
	case "link":
		how := lab.Silent
		if i.how == unplugged {
			how = lab.Loud
		}
		i.node.host.Cut(how)
		return i.node.host.Heal, true
	case "host":
		i.node.host.PowerOff()
		end(i.node.cmd)
		return i.node.start, true
	case "rank":
		var ranks []int
		if !eventually(time.Second, func() bool { ranks = w.ranks(); return len(ranks) > 0 }) {
			return func() {}, false
		}
		return i.strike(ranks[r.IntN(len(ranks))], nil)
	case "agent":
		return i.strike(i.node.pid(), i.node.revive)
	case "etcd":
		return i.strike(w.etcd.Process.Pid, func() {
			w.etcd.Wait() // says how it was ended
			w.startEtcd()
		})
	}
	return i.strike(coordinator.Process.Pid, nil)
}

// strike sends the signal. What was stopped is continued; what was ended is brought back
// by again, if anything does.
func (i injection) strike(pid int, again func()) (undo func(), done bool) {
	if pid == 0 || syscall.Kill(pid, i.signal()) != nil {
		return func() {}, false
	}
	switch {
	case i.how == stopped:
		return func() { syscall.Kill(pid, syscall.SIGCONT) }, true // it may have been ended meanwhile
	case again != nil:
		return again, true
	}
	return func() {}, true
}

// revive starts an agent that was ended.
func (n *node) revive() {
	n.cmd.Process.Signal(syscall.SIGCONT) // the nsenter that waits for it stops with it, and does not go on with it
	n.cmd.Wait()                          // says how it was ended
	n.start()
}

package faults

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/weir-bench/weir/test/lab"
)

// injection is one thing that is done to a cluster while it has a session.
type injection struct {
	how    string        // as in the table
	target string        // coordinator, agent, rank, etcd, link, host
	node   *node         // of an agent, a link or a host
	share  float64       // of what happens in a session, which has happened by then; negative: while it opens
	after  time.Duration // from then
	held   time.Duration // until it is undone
}

func (i injection) String() string {
	name := i.how + " " + i.target
	if i.node != nil {
		name += " " + i.node.name
	}
	return fmt.Sprintf("%s at %.0f %% + %v for %v", name, max(0, 100*i.share), i.after.Round(time.Millisecond),
		i.held.Round(time.Millisecond))
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
	dropping   = "loss"  // of 30 % of the packets that a host sends
	delayed    = "delay" // by 200 ms of all that a host sends and is sent
	off        = "power off"
)

// draw makes up the n-th injection. Kinds take turns, so that each has its share of any
// number.
func (w *cluster) draw(r *rand.Rand, n int) injection {
	kinds := []injection{
		{how: killed, target: "coordinator"}, {how: killed, target: "agent"}, {how: killed, target: "rank"},
		{how: killed, target: "etcd"},
		{how: stopped, target: "coordinator"}, {how: stopped, target: "agent"}, {how: stopped, target: "rank"},
		{how: stopped, target: "etcd"},
		{how: terminated, target: "coordinator"}, {how: terminated, target: "agent"}, {how: terminated, target: "rank"},
		{how: terminated, target: "etcd"},
	}
	if w.lab != nil {
		kinds = append(kinds, injection{how: silenced, target: "link"}, injection{how: unplugged, target: "link"},
			injection{how: dropping, target: "link"}, injection{how: delayed, target: "link"},
			injection{how: off, target: "host"})
	}
	if *only != "" {
		if kinds = slices.DeleteFunc(kinds, func(i injection) bool { return i.kind() != *only }); len(kinds) == 0 {
			w.t.Fatalf("there is no kind %q here", *only)
		}
	}
	i := kinds[n%len(kinds)]
	// of all moments, whatever the machine does beside: of each ten sessions, two are
	// struck while they open
	if i.share = 1.25*r.Float64() - 0.25; i.share >= 0 {
		i.after = time.Duration(r.Int64N(int64(400 * time.Millisecond)))
	} else {
		i.after = time.Duration(-4 * i.share * float64(w.opening))
	}
	i.held = time.Duration(r.Int64N(int64(6 * time.Second)))
	if i.target == "etcd" {
		i.held = time.Duration(r.Int64N(int64(10 * time.Second)))
		if r.IntN(6) == 0 {
			i.held = time.Minute
		}
	}
	return i
}

// signal is what does it to a process.
func (i injection) signal() syscall.Signal {
	return map[string]syscall.Signal{killed: syscall.SIGKILL, stopped: syscall.SIGSTOP,
		terminated: syscall.SIGTERM}[i.how]
}

// aim picks the node that an injection strikes: one of those that the session has asked
// for by then, or will ask for first, which are the first by name. What befalls another
// says nothing.
func (w *cluster) aim(r *rand.Rand, i *injection) {
	switch i.target {
	case "agent", "link", "host":
		asked := w.invited()
		if len(asked) == 0 {
			asked = w.nodes[:min(2, len(w.nodes))]
		}
		i.node = asked[r.IntN(len(asked))]
	}
}

// inject breaks it. It gives how to undo that, and false if there was nothing to break.
func (w *cluster) inject(r *rand.Rand, i injection, coordinator *exec.Cmd) (undo func(), done bool) {
	switch i.target {
	case "link":
		return i.spoil(i.node.host), true
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
		back, done := i.strike(i.node.pid(), i.node.revive)
		return func() {
			back()
			i.node.cmd.Process.Signal(syscall.SIGCONT) // what brought the agent up stops with it
		}, done
	case "etcd":
		return i.strike(w.etcd.Process.Pid, func() {
			w.etcd.Wait() // says how it was ended
			w.startEtcd()
		})
	}
	return i.strike(coordinator.Process.Pid, nil)
}

// spoil does it to the link of a host.
func (i injection) spoil(h *lab.Host) (undo func()) {
	switch i.how {
	case dropping:
		h.Lose(30)
		return func() { h.Lose(0) }
	case delayed:
		const by = 200 * time.Millisecond
		h.Late(by, by)
		return func() { h.Late(0, 0) }
	case unplugged:
		h.Cut(lab.Loud)
	default:
		h.Cut(lab.Silent)
	}
	return h.Heal
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
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		n.cmd.Wait() // says how it was ended
	}()
	select {
	case <-ended:
		n.start()
	case <-time.After(bound):
		n.w.t.Errorf("the agent of node %s did not end within %v of its signal", n.name, bound)
	}
}

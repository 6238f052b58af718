package agent

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"weir/executor/cgroup"
	"weir/executor/scratch"
)

// guard is a process that cleans up after an agent that was killed. What a command started in
// another process group or session does not end with the agent, and its files stay; its own process
// group is ended by the shell of engine/command. An agent that ends in order cleans up itself, and
// ends its guard.
type guard struct {
	argv  []string // whose process must end in Guard; none: there is no guard
	begin sync.Once
	cmd   *exec.Cmd // nil: it is not there
}

// start starts the guard, once. Without it the next agent on this host cleans up.
func (g *guard) start() {
	g.begin.Do(func() {
		if len(g.argv) == 0 {
			return
		}
		cmd := exec.Command(g.argv[0], g.argv[1:]...)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if _, err := cmd.StdinPipe(); err == nil && cmd.Start() == nil { // the pipe closes with the agent
			g.cmd = cmd
		}
	})
}

func (g *guard) close() error {
	g.begin.Do(func() {})
	if g.cmd == nil {
		return nil
	}
	err := g.cmd.Process.Kill()
	_ = g.cmd.Wait() // it was killed; this closes the pipe
	return err
}

// Guard waits for the end of the agent that started this process, and then removes what agents
// left that no longer live: processes in control groups, and temporary directories.
func Guard() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, wait := range []time.Duration{0, 50 * time.Millisecond, 200 * time.Millisecond, time.Second} {
		time.Sleep(wait) // the kernel closes the agent's files one by one: locks may go after the pipe
		cgroup.Sweep()
		for _, root := range scratch.Roots() {
			scratch.Sweep(root)
		}
	}
}

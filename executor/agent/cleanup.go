package agent

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/executor/host/scratch"
)

// guard is a process that cleans up after an agent that was killed: processes of commands in other process groups or
// sessions, and files, would remain. An agent that ends in order cleans up itself and kills its guard.
type guard struct {
	argv  []string // of a process that calls Guard; none: there is no guard
	begin sync.Once
	cmd   *exec.Cmd // nil: not running
}

// start starts the guard, once. If that fails, the next agent on this host cleans up.
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
	_ = g.cmd.Wait() // its error is the kill
	return err
}

// Guard waits for the end of the agent that started this process, and then removes the control groups, with their
// processes, and the temporary directories of agents that have ended.
func Guard() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	_, _ = io.Copy(io.Discard, os.Stdin)
	for _, wait := range []time.Duration{0, 50 * time.Millisecond, 200 * time.Millisecond, time.Second} {
		time.Sleep(wait) // the kernel closes the agent's files one by one: it may release locks after the pipe
		cgroup.Sweep()
		for _, root := range scratch.Roots() {
			scratch.Sweep(root)
		}
	}
}

// removeSharedMemory removes shared memory that killed processes left outside of the launch's directory: System V
// segments, and files of libfabric that are named after the process.
func removeSharedMemory(pids map[int]bool) {
	if f, err := os.Open("/proc/sysvipc/shm"); err == nil {
		defer f.Close()
		for _, id := range orphanedSegments(bufio.NewScanner(f), pids) {
			_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // best effort
		}
	}
	for pid := range pids {
		scratch.ForgetProcess(pid)
	}
}

// orphanedSegments are the ids of segments that the processes created and no process has attached, from the kernel's
// list (key, shmid, perms, size, cpid, lpid, nattch, …).
func orphanedSegments(list *bufio.Scanner, pids map[int]bool) []int {
	var ids []int
	for list.Scan() {
		f := strings.Fields(list.Text())
		if len(f) < 7 || f[6] != "0" {
			continue
		}
		creator, err1 := strconv.Atoi(f[4])
		id, err2 := strconv.Atoi(f[1])
		if err1 == nil && err2 == nil && pids[creator] {
			ids = append(ids, id)
		}
	}
	return ids
}

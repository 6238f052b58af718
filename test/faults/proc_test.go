package faults

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// proc is a process of this machine or of a host on it.
type proc struct {
	pid, parent int
	argv        []string
}

func (p proc) verb() string {
	if len(p.argv) < 2 {
		return ""
	}
	return p.argv[1]
}

func (p proc) has(arg string) bool {
	for _, a := range p.argv {
		if a == arg {
			return true
		}
	}
	return false
}

func (p proc) environ() []byte {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid)) // gone: it has none
	return text
}

// processesOf are the processes that run a program and are not dead already.
func processesOf(program string) (all []proc) {
	dirs, _ := filepath.Glob("/proc/[0-9]*") // only a bad pattern is an error
	for _, dir := range dirs {
		// a dead process that nobody has waited for has no program any more
		if exe, err := os.Readlink(dir + "/exe"); err != nil || exe != program {
			continue
		}
		line, err := os.ReadFile(dir + "/cmdline")
		if err != nil || len(line) == 0 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir)) // digits, by the pattern
		state := status(pid)
		if len(state) < 2 {
			continue
		}
		parent, _ := strconv.Atoi(state[1]) // as the kernel writes it
		all = append(all, proc{pid, parent, strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")})
	}
	return all
}

// status gives what /proc/PID/stat says of a process after its name: state, parent and so on;
// nothing for one that is gone.
func status(pid int) []string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	return strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
}

// killLive kills a process and says whether it lived until then. The kernel accepts a signal
// for a process that is exiting, too, so the process is stopped first and seen to be stopped.
func killLive(pid int) bool {
	if syscall.Kill(pid, syscall.SIGSTOP) != nil {
		return false
	}
	stopped := eventuallyEach(time.Millisecond, bound, func() bool {
		state := status(pid)
		return len(state) == 0 || strings.Contains("TZX", state[0])
	})
	state := status(pid)
	return stopped && len(state) > 0 && state[0] == "T" && syscall.Kill(pid, syscall.SIGKILL) == nil
}

// TestKillLive kills a process that lives, and does not count one that has exited and that
// nobody has waited for, although the kernel accepts signals for it.
func TestKillLive(t *testing.T) {
	for script, lives := range map[string]bool{"read never": true, "exit 0": false} {
		cmd := exec.Command("bash", "-c", script)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !lives && !eventually(bound, func() bool { return status(cmd.Process.Pid)[0] == "Z" }) {
			t.Fatal("it does not exit")
		}
		if killed := killLive(cmd.Process.Pid); killed != lives {
			t.Errorf("%s: killed is %v", script, killed)
		}
		_ = cmd.Wait() // its status is next
		_ = in.Close() // may be closed by Wait
		if code := cmd.ProcessState.ExitCode(); (code < 0) != lives {
			t.Errorf("%s: it ended with %d", script, code)
		}
	}
}

package child

import (
	"os/exec"
	"runtime"
	"syscall"
)

// Start starts a command that dies with this process: on a thread of its own, which lives as long as the command does.
// Once the command has ended, it calls ended with what Wait returned.
func Start(cmd *exec.Cmd, ended func(error)) error {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	DieWithThread(cmd.SysProcAttr)
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			ended(cmd.Wait())
		}
	}()
	return <-started
}

package command

import (
	"os"
	"os/exec"
)

// guardian waits for the end of its standard input, which is the end of the rank, and then kills the process group,
// itself included.
const guardian = `trap '' TERM INT QUIT HUP; read -r nothing; kill -9 0`

// guard starts a shell that watches over the process group: when an agent is killed the kernel kills its ranks, and
// their own children only. It is skipped on a host without a shell. The returned file must stay open as long as the
// rank lives.
func guard() *os.File {
	if !leads() {
		return nil
	}
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer theirs.Close()
	cmd := exec.Command("sh", "-c", guardian)
	cmd.Stdin, cmd.Dir, cmd.Env = theirs, "/", []string{}
	if cmd.Start() != nil {
		ours.Close()
		return nil
	}
	go func() { _ = cmd.Wait() }() // it ends with the group
	return ours
}

package command

import (
	"os"
	"os/exec"
)

// guardian waits for the end of the rank, which is that of its standard input, and then ends
// the process group, itself too.
const guardian = `trap '' TERM INT QUIT HUP; read -r nothing; kill -9 0`

// guard has a shell watch over the process group: when an agent is killed the kernel kills
// its ranks, and of what these have started only their own children. A host without a shell
// does without. The file is to stay open as long as the rank lives.
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

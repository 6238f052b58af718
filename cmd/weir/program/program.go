// Package program has the commands by which weir starts itself as another process.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Commands are the command lines of the other kinds of processes.
type Commands struct{ Rank, Probe, Guard []string }

// Processes are the commands for ranks, probes and guards.
func Processes() (Commands, error) {
	self, err := File()
	if err != nil {
		return Commands{}, err
	}
	return Commands{
		Rank: []string{self, "rank"}, Probe: []string{self, "probe", "--internal"}, Guard: []string{self, "guard"},
	}, nil
}

// File is the path of this program's file, from /proc or else from PATH.
func File() (string, error) {
	self, err := os.Executable()
	if err == nil {
		return self, nil
	}
	if self, looked := exec.LookPath(os.Args[0]); looked == nil {
		if self, looked = filepath.Abs(self); looked == nil {
			return self, nil
		}
	}
	return "", fmt.Errorf("weir cannot find its own program file (%w): mount /proc, or call weir by its path", err)
}

// Package program is how weir starts itself as another process.
package program

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Commands start this same program as another kind of process.
type Commands struct{ Rank, Probe, Guard []string }

// Processes are the commands by which agents start ranks, probes and guards.
func Processes() (Commands, error) {
	self, err := File()
	if err != nil {
		return Commands{}, err
	}
	return Commands{
		Rank: []string{self, "rank"}, Probe: []string{self, "probe", "--internal"}, Guard: []string{self, "guard"},
	}, nil
}

// File is the path of this program's file. The kernel says it in /proc; without that,
// it is where a shell would have found it.
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
	return "", fmt.Errorf("weir's own program file is not known (%w): mount /proc, or call weir by its path", err)
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// argvs start this same program as another kind of process.
type argvs struct{ rank, probe []string }

func processes() (argvs, error) {
	self, err := program()
	if err != nil {
		return argvs{}, err
	}
	return argvs{rank: []string{self, "rank"}, probe: []string{self, "probe", "--internal"}}, nil
}

// program is the path of this program's file. The kernel says it in /proc; without that,
// it is where a shell would have found it.
func program() (string, error) {
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

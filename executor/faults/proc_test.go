package faults

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
		stat, err := os.ReadFile(dir + "/stat")
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 2 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir)) // digits, by the pattern
		parent, _ := strconv.Atoi(fields[1])       // as the kernel writes it
		all = append(all, proc{pid, parent, strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")})
	}
	return all
}

package child

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Stat is a process as the kernel describes it in /proc/PID/stat, proc(5).
type Stat struct {
	PID    int
	State  byte // R, S, D, T, Z, …
	Parent int
	Group  int
	Start  uint64 // in ticks of the kernel's clock
}

// StatOf describes a process; false: it is gone.
func StatOf(pid int) (Stat, bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return Stat{}, false
	}
	return ParseStat(string(text))
}

// Processes describes all processes of this host.
func Processes() (all []Stat) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // only a bad pattern is an error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if s, ok := ParseStat(string(text)); ok && err == nil { // otherwise it has ended
			all = append(all, s)
		}
	}
	return all
}

// ParseStat reads the text of a stat file. The name of the process is in parentheses and may contain anything.
func ParseStat(text string) (s Stat, ok bool) {
	pid, _, _ := strings.Cut(text, " ")
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 3 {
		return s, false
	}
	s.State = fields[0][0]
	s.PID, _ = strconv.Atoi(pid)
	s.Parent, _ = strconv.Atoi(fields[1])
	s.Group, _ = strconv.Atoi(fields[2])
	if len(fields) > 19 {
		s.Start, _ = strconv.ParseUint(fields[19], 10, 64)
	}
	return s, true
}

package child

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// MemoryKills is how many processes of this host the kernel has killed since boot because memory ran out, of the host
// or of a control group: oom_kill in /proc/vmstat. It is 0 where that is unknown.
func MemoryKills() int {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	return memoryKillsIn(string(text))
}

func memoryKillsIn(vmstat string) int {
	for line := range strings.Lines(vmstat) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(count)) // the kernel writes a number
			return n
		}
	}
	return 0
}

// MemoryKillsSince continues "killed by signal 9" if the count has grown since a process started; "" if it has not.
func MemoryKillsSince(before int) string {
	n := MemoryKills() - before
	if n <= 0 {
		return ""
	}
	count := "a process"
	if n > 1 {
		count = fmt.Sprintf("%d processes", n)
	}
	return ": memory ran out, and the kernel killed " + count + " of this host meanwhile"
}

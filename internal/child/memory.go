package child

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// MemoryKills is how many processes of this process's control group the kernel has killed because memory ran out, of
// the host or of a group: oom_kill in memory.events (v2) or memory.oom_control (v1). It is 0 where that is unknown.
// Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux.
func MemoryKills() int { return memoryKills(os.DirFS("/")) }

func memoryKills(root fs.FS) (kills int) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		switch {
		case controllers == "":
			kills = max(kills, killsIn(root, path.Join("sys/fs/cgroup", group, "memory.events")))
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			kills = max(kills, killsIn(root, path.Join("sys/fs/cgroup/memory", group, "memory.oom_control")))
		}
	}
	return kills
}

func killsIn(root fs.FS, file string) int {
	text, err := fs.ReadFile(root, file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if count, ok := strings.CutPrefix(line, "oom_kill "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(count)) // the kernel writes a number
			return n
		}
	}
	return 0
}

// MemoryKillsSince continues "killed by signal 9" if the count has grown since a process started; "" if it has not.
func MemoryKillsSince(before int) string { return memoryText(MemoryKills() - before) }

func memoryText(kills int) string {
	switch {
	case kills <= 0:
		return ""
	case kills == 1:
		return ": memory ran out, and the kernel killed a process of this control group meanwhile"
	}
	return fmt.Sprintf(": memory ran out, and the kernel killed %d processes of this control group meanwhile", kills)
}

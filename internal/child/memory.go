package child

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/weir-bench/weir/internal/cgroupfs"
)

// MemoryKills is how many processes of this process's control group the kernel has killed because memory ran out, of
// the host or of a group: oom_kill in memory.events (v2) or memory.oom_control (v1). It is 0 where that is unknown.
// Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux.
func MemoryKills() int { return memoryKills(os.DirFS("/")) }

func memoryKills(root fs.FS) int {
	of, err := cgroupfs.Own(root, "memory")
	if err != nil {
		return 0
	}
	return max(killsIn(root, of.V2, "memory.events"), killsIn(root, of.V1, "memory.oom_control"))
}

func killsIn(root fs.FS, folder, file string) int {
	text, err := fs.ReadFile(root, strings.TrimPrefix(path.Join(folder, file), "/"))
	if folder == "" || err != nil {
		return 0
	}
	return int(cgroupfs.Count(text, "oom_kill"))
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

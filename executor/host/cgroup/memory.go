package cgroup

import (
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/cgroupfs"
)

// Room is the memory in bytes that a group, or with nil this process's cgroups, may still use within its
// limit and those of its ancestors; bounded is false without a limit. Inactive page cache counts as free.
func (g *Group) Room() (bytes uint64, bounded bool) {
	root := os.DirFS("/")
	dirs, err := cgroupfs.Own(root, "memory")
	if err != nil {
		dirs = cgroupfs.Folders{}
	}
	if g != nil {
		dirs.V2 = g.dir
	}
	return room(root, dirs)
}

func room(root fs.FS, of cgroupfs.Folders) (bytes uint64, bounded bool) {
	bytes, bounded = memory2.room(root, of.V2)
	if n, ok := memory1.room(root, of.V1); ok && (!bounded || n < bytes) {
		return n, true
	}
	return bytes, bounded
}

// memoryFiles are the files of a memory controller.
type memoryFiles struct {
	limit, usage string
	inactive     string // page cache in memory.stat, with that of the groups below
}

// Sources: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux.
var (
	memory2 = memoryFiles{"memory.max", "memory.current", "inactive_file"}
	memory1 = memoryFiles{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"}
)

// unlimited1 is less than the limit that a v1 group without one has.
const unlimited1 = 1 << 62

func (m memoryFiles) room(root fs.FS, dir string) (bytes uint64, bounded bool) {
	number := func(dir, name string) (uint64, error) {
		text, err := fs.ReadFile(root, path.Join(dir, name))
		if err != nil {
			return 0, err
		}
		return strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	}
	for dir = strings.TrimPrefix(dir, "/"); dir != "" && dir != "."; dir = path.Dir(dir) {
		limit, err := number(dir, m.limit)
		if err != nil || limit >= unlimited1 { // no cgroup, or no limit, which v2 calls max
			continue
		}
		used, _ := number(dir, m.usage) // if absent, 0
		stat, _ := fs.ReadFile(root, path.Join(dir, "memory.stat"))
		used -= min(used, cgroupfs.Count(stat, m.inactive))
		if left := limit - min(limit, used); !bounded || left < bytes {
			bytes, bounded = left, true
		}
	}
	return bytes, bounded
}

package cgroup

import (
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CPU is what the control groups of this process leave it of the processors, and what that has cost so far.
type CPU struct {
	// Limit is in processors, of the group with the lowest one; 0: there is none.
	Limit float64
	// Throttled is for how long a limit has kept threads from running, in seconds, of all processors together.
	Throttled float64
}

// ReadCPU reads cpu.max and cpu.stat (version 2), or cpu.cfs_quota_us, cpu.cfs_period_us and cpu.stat (version 1), of
// the group of this process and of those above it that are visible. What is not there is no limit.
// Source: Documentation/admin-guide/cgroup-v2.rst and Documentation/scheduler/sched-bwc.rst of Linux.
func ReadCPU(root fs.FS) CPU {
	mounts, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return CPU{}
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return CPU{}
	}
	var c CPU
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, ok := strings.Cut(rest, ":")
		switch {
		case !ok:
		case controllers == "":
			c.readGroups(root, mountOf(mounts, "cgroup2", "", group), limitOf2)
		case slices.Contains(strings.Split(controllers, ","), "cpu"):
			c.readGroups(root, mountOf(mounts, "cgroup", "cpu", group), limitOf1)
		}
	}
	return c
}

// readGroups reads the group in a folder and those above it. The root of a hierarchy has no limit.
func (c *CPU) readGroups(root fs.FS, dir string, limitOf func(text func(string) string) float64) {
	if dir == "" {
		return
	}
	for dir = strings.TrimPrefix(filepath.Clean(dir), "/"); dir != "." && dir != ""; dir = path.Dir(dir) {
		text := func(name string) string {
			b, err := fs.ReadFile(root, path.Join(dir, name))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(b))
		}
		if text("cgroup.procs") == "" && text("cpu.stat") == "" {
			return // above what is mounted
		}
		if limit := limitOf(text); limit > 0 && (c.Limit == 0 || limit < c.Limit) {
			c.Limit = limit
		}
		c.Throttled += throttled(text("cpu.stat"))
	}
}

// limitOf2 is the limit of a group of version 2: "QUOTA PERIOD" in microseconds, or "max PERIOD".
func limitOf2(text func(string) string) float64 {
	quota, period, _ := strings.Cut(text("cpu.max"), " ")
	return share(quota, period)
}

// limitOf1 is that of a group of version 1; a quota of -1 is none.
func limitOf1(text func(string) string) float64 {
	return share(text("cpu.cfs_quota_us"), text("cpu.cfs_period_us"))
}

func share(quota, period string) float64 {
	q, err := strconv.ParseFloat(quota, 64)
	p, perr := strconv.ParseFloat(period, 64)
	if err != nil || perr != nil || q <= 0 || p <= 0 {
		return 0
	}
	return q / p
}

// throttled is the time that cpu.stat counts: throttled_usec in version 2, throttled_time in nanoseconds in version 1.
func throttled(stat string) float64 {
	for _, c := range []struct {
		name string
		unit float64
	}{{"throttled_usec", 1e-6}, {"throttled_time", 1e-9}} {
		if n := counted([]byte(stat), c.name); n > 0 {
			return float64(n) * c.unit
		}
	}
	return 0
}

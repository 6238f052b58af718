package cgroup

import (
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/cgroupfs"
)

// CPU is the CPU limit of this process's cgroups, and its effect so far.
type CPU struct {
	// Limit is the lowest limit, in processors; 0: none.
	Limit float64
	// Throttled is the time for which threads were throttled, in seconds, summed over all processors.
	Throttled float64
}

// ReadCPU reads cpu.max and cpu.stat (v2), or cpu.cfs_quota_us, cpu.cfs_period_us and cpu.stat (v1), of this
// process's cgroup and of its visible ancestors. Missing files mean no limit.
// Source: Documentation/admin-guide/cgroup-v2.rst and Documentation/scheduler/sched-bwc.rst of Linux.
func ReadCPU(root fs.FS) CPU {
	dirs, err := cgroupfs.Own(root, "cpu")
	if err != nil {
		return CPU{}
	}
	var c CPU
	c.readGroups(root, dirs.V2, limitOf2)
	c.readGroups(root, dirs.V1, limitOf1)
	return c
}

// readGroups reads a group and its ancestors. The root of a hierarchy has no limit.
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
			return // above the mount point
		}
		if limit := limitOf(text); limit > 0 && (c.Limit == 0 || limit < c.Limit) {
			c.Limit = limit
		}
		c.Throttled += throttled(text("cpu.stat"))
	}
}

// limitOf2 is the limit of a v2 group: "QUOTA PERIOD" in microseconds, or "max PERIOD".
func limitOf2(text func(string) string) float64 {
	quota, period, _ := strings.Cut(text("cpu.max"), " ")
	return share(quota, period)
}

// limitOf1 is the limit of a v1 group; a quota of -1 is none.
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

// throttled is the throttled time in cpu.stat, in seconds: throttled_usec (v2), or throttled_time in ns (v1).
func throttled(stat string) float64 {
	for _, c := range []struct {
		name string
		unit float64
	}{{"throttled_usec", 1e-6}, {"throttled_time", 1e-9}} {
		if n := cgroupfs.Count([]byte(stat), c.name); n > 0 {
			return float64(n) * c.unit
		}
	}
	return 0
}

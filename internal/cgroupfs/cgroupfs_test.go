package cgroupfs

import (
	"testing"
	"testing/fstest"
)

func TestWhereThisProcessIs(t *testing.T) {
	const v1 = "30 23 0:26 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
	for name, c := range map[string]struct{ mounts, groups, want, v1 string }{
		"unified": {"30 23 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n",
			"0::/user.slice/a.scope\n", "/sys/fs/cgroup/user.slice/a.scope", ""},
		"hybrid": {v1 + "42 32 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"4:memory:/x\n0::/\n", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory/x"},
		"part of the tree":     {"30 23 0:26 /a/b /mnt rw - cgroup2 cgroup2 rw\n", "0::/a/b/c\n", "/mnt/c", ""},
		"a blank in the name":  {"30 23 0:26 / /sys/fs\\040x rw - cgroup2 cgroup2 rw\n", "0::/a\n", "/sys/fs x/a", ""},
		"outside of the mount": {"30 23 0:26 /a/b /mnt rw - cgroup2 cgroup2 rw\n", "0::/a\n", "", ""},
		"outside of the space": {"30 23 0:26 / /mnt rw - cgroup2 cgroup2 rw\n", "0::/../a\n", "", ""},
		"version 1 alone":      {v1, "4:cpu,memory:/x\n", "", "/sys/fs/cgroup/memory/x"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Own(fstest.MapFS{
				"proc/self/mountinfo": {Data: []byte(c.mounts)}, "proc/self/cgroup": {Data: []byte(c.groups)},
			}, "memory")
			if want := (Folders{V2: c.want, V1: c.v1}); got != want || err != nil {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
		})
	}
}

func TestCount(t *testing.T) {
	for name, want := range map[string]uint64{"oom": 13, "oom_kill": 12, "low": 0, "oom_": 0, "max": 0} {
		if got := Count([]byte("low 0\noom 13\noom_kill 12\nmax many\n"), name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
}

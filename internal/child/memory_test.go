package child

import (
	"testing"
	"testing/fstest"
)

func TestMemoryKills(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		groups string
		want   int
	}{
		"version 2":           {"0::/user.slice/a\n", 12},
		"version 1":           {"5:cpu,cpuacct:/x\n4:memory:/b\n0::/\n", 3},
		"a namespace":         {"0::/\n", 0},
		"a group without one": {"0::/other\n", 0},
		"none":                {"", 0},
	} {
		root := fstest.MapFS{
			"proc/self/mountinfo": file("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n" +
				"31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
			"proc/self/cgroup":                             file(c.groups),
			"sys/fs/cgroup/user.slice/a/memory.events":     file("low 0\noom 13\noom_kill 12\n"),
			"sys/fs/cgroup/memory/b/memory.oom_control":    file("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"),
			"sys/fs/cgroup/memory/x/memory.oom_control":    file("oom_kill 99\n"),
			"sys/fs/cgroup/other/memory.pressure_is_there": file("oom_kill 98\n"),
		}
		if got := memoryKills(root); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
	if got := memoryKills(fstest.MapFS{}); got != 0 {
		t.Errorf("without /proc: %d", got)
	}
	for kills, want := range map[int]string{
		-1: "", 0: "",
		1: ": memory ran out, and the kernel killed a process of this control group meanwhile",
		3: ": memory ran out, and the kernel killed 3 processes of this control group meanwhile",
	} {
		if got := memoryText(kills); got != want {
			t.Errorf("%d: got %q, want %q", kills, got, want)
		}
	}
}

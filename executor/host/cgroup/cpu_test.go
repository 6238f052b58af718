package cgroup

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// The limit is that of the group with the lowest one, of both versions, wherever it is mounted.
func TestReadCPU(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	const v2 = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
	const v1 = "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:5 - cgroup cgroup rw,cpu,cpuacct\n" +
		"33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset"
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  CPU
	}{
		"nothing is reported": {fstest.MapFS{}, CPU{}},
		"no limit": {fstest.MapFS{
			"proc/self/mountinfo": file(v2), "proc/self/cgroup": file("0::/a"),
			"sys/fs/cgroup/a/cgroup.procs": file("1"), "sys/fs/cgroup/a/cpu.max": file("max 100000"),
			"sys/fs/cgroup/a/cpu.stat": file("usage_usec 5\nnr_throttled 0\nthrottled_usec 0"),
		}, CPU{}},
		"version 2, a pod above the container": {fstest.MapFS{
			"proc/self/mountinfo": file(v2), "proc/self/cgroup": file("0::/pod/c"),
			"sys/fs/cgroup/pod/c/cgroup.procs": file("1"), "sys/fs/cgroup/pod/c/cpu.max": file("200000 100000"),
			"sys/fs/cgroup/pod/c/cpu.stat":   file("usage_usec 5\nnr_periods 9\nnr_throttled 4\nthrottled_usec 1500000"),
			"sys/fs/cgroup/pod/cgroup.procs": file("1"), "sys/fs/cgroup/pod/cpu.max": file("60000 100000"),
			"sys/fs/cgroup/pod/cpu.stat": file("throttled_usec 500000"),
		}, CPU{0.6, 2}},
		"version 1": {fstest.MapFS{
			"proc/self/mountinfo": file(v1), "proc/self/cgroup": file("5:cpuset:/\n1:cpu,cpuacct:/job\n0::/"),
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us":  file("150000"),
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us": file("100000"),
			"sys/fs/cgroup/cpu,cpuacct/job/cpu.stat":          file("nr_throttled 15\nthrottled_time 2500000000"),
			"sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us":      file("-1"),
			"sys/fs/cgroup/cpu,cpuacct/cgroup.procs":          file("1"),
		}, CPU{1.5, 2.5}},
		"version 1, mounted where the container's group is": {fstest.MapFS{
			"proc/self/mountinfo": file("40 31 0:29 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu"),
			"proc/self/cgroup":    file("1:cpu:/docker/abc"), "sys/fs/cgroup/cpu/cgroup.procs": file("1"),
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": file("50000"), "sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000"),
		}, CPU{0.5, 0}},
		"garbage": {fstest.MapFS{
			"proc/self/mountinfo": file(v2 + "\nx y - z"), "proc/self/cgroup": file("0::/a\nx"),
			"sys/fs/cgroup/a/cgroup.procs": file("1"), "sys/fs/cgroup/a/cpu.max": file("many 0"),
		}, CPU{}},
	} {
		if got := ReadCPU(c.files); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// The kernel says of a process in a group with a limit what it was made to wait.
func TestReadCPUOfARealGroup(t *testing.T) {
	const root = "/sys/fs/cgroup/cpu"
	quota, stat := "cpu.cfs_quota_us", "10000"
	dir, err := os.MkdirTemp(root, "weir-test.")
	if err != nil {
		if dir, err = os.MkdirTemp("/sys/fs/cgroup", "weir-test."); err != nil {
			t.Skipf("no cgroup can be created here: %v", err)
		}
		quota, stat = "cpu.max", "10000 100000"
	}
	defer os.Remove(dir)
	if err := os.WriteFile(filepath.Join(dir, quota), []byte(stat), 0o644); err != nil {
		t.Skipf("no group may have a limit here: %v", err)
	}
	// the loop gets more than a tenth of a processor even on a busy host
	cmd := exec.Command("sh", "-c", "echo $$ > "+filepath.Join(dir, "cgroup.procs")+"; while :; do :; done")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		b, _ := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		for _, word := range strings.Fields(string(b)) {
			if pid, err := strconv.Atoi(word); err == nil {
				if p, err := os.FindProcess(pid); err == nil {
					_ = p.Kill()
				}
			}
		}
		_ = cmd.Wait()
		time.Sleep(50 * time.Millisecond) // the kernel empties the group
	}()
	host := os.DirFS("/")
	of := processRoot{host, "proc/" + strconv.Itoa(cmd.Process.Pid)}
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		got := ReadCPU(of)
		if got.Limit == 0.1 && got.Throttled > 0 {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%+v", got)
		}
	}
}

// processRoot is the host as another process sees it.
type processRoot struct {
	fs.FS
	self string
}

func (r processRoot) Open(name string) (fs.File, error) {
	if rest, own := strings.CutPrefix(name, "proc/self/"); own {
		name = r.self + "/" + rest
	}
	return r.FS.Open(name)
}

package cgroup

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/internal/cgroupfs"
)

func TestRoom(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text + "\n")} }
	bounded := fstest.MapFS{
		"cg/memory.max": file("1000"), "cg/memory.current": file("700"),
		"cg/memory.stat":  file("anon 100\ninactive_file 200"),
		"cg/a/memory.max": file("max"), "cg/a/memory.current": file("650"),
		"cg/a/b/memory.max": file("600"), "cg/a/b/memory.current": file("500"),
		"cg/full/memory.max": file("10"), "cg/full/memory.current": file("12"),
		"free/a/cgroup.procs":      file(""),
		"v1/memory.limit_in_bytes": file("9223372036854771712"), "v1/memory.usage_in_bytes": file("900"),
		"v1/a/memory.limit_in_bytes": file("450"), "v1/a/memory.usage_in_bytes": file("400"),
		"v1/a/memory.stat": file("inactive_file 10\ntotal_inactive_file 100"),
	}
	for dir, want := range map[string]struct {
		bytes uint64
		ok    bool
	}{
		"cg": {500, true}, "cg/a": {500, true}, "cg/a/b": {100, true}, "cg/full": {0, true}, "free/a": {0, false},
		"": {0, false},
	} {
		if got, ok := room(bounded, cgroupfs.Folders{V2: "/" + dir}); got != want.bytes || ok != want.ok {
			t.Errorf("%q has %d, %v, want %+v", dir, got, ok, want)
		}
	}
	for dirs, want := range map[cgroupfs.Folders]uint64{
		{V1: "/v1/a"}: 150, {V2: "/cg/a/b", V1: "/v1/a"}: 100, {V2: "/cg", V1: "/v1/a"}: 150,
		{V2: "/cg", V1: "/v1"}: 500,
	} {
		if got, ok := room(bounded, dirs); got != want || !ok {
			t.Errorf("%+v has %d, %v, want %d", dirs, got, ok, want)
		}
	}
	if got, ok := room(bounded, cgroupfs.Folders{V1: "/v1"}); ok {
		t.Errorf("a group without a limit has %d", got)
	}
}

// permitted is a group, or the test is skipped where none is permitted.
func permitted(t *testing.T, l Limits) *Group {
	t.Helper()
	g, err := Make(l)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := g.Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	})
	return g
}

// within starts a shell in the group.
func within(t *testing.T, g *Group, script string) (cmd *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	out = new(bytes.Buffer)
	cmd = exec.Command("sh", "-c", script)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, UseCgroupFD: true, CgroupFD: g.FD()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// runaway leaves a process in a process group of its own, and returns its ID.
func runaway(t *testing.T, g *Group) int {
	t.Helper()
	cmd, out := within(t, g, "setsid sleep 600 >/dev/null 2>&1 & echo $!")
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, out)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func lives(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(b), ") Z ")
}

func TestNothingOutlivesItsGroup(t *testing.T) {
	g := permitted(t, Limits{})
	pid := runaway(t, g)
	if !lives(pid) {
		t.Fatal("it has not begun")
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if lives(pid) {
		t.Error("a process that had left its process group runs on")
	}
	if _, err := os.Stat(g.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group is still there: %v", err)
	}
}

// What a maker that was killed leaves is removed by the next, and what belongs to one
// that lives is not.
func TestGroupsOfTheDeadAreRemoved(t *testing.T) {
	dead, alive := permitted(t, Limits{}), permitted(t, Limits{})
	left, kept := runaway(t, dead), runaway(t, alive)
	dead.lock.Close() // as the kernel does when a process ends
	Sweep()
	if lives(left) {
		t.Error("a process of a group without a maker runs on")
	}
	if _, err := os.Stat(dead.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group without a maker is still there: %v", err)
	}
	if !lives(kept) {
		t.Error("a process of a group that is in use was killed")
	}
}

func TestTasksAreBounded(t *testing.T) {
	g := permitted(t, Limits{Tasks: 4})
	if g.Limits().Tasks == 0 {
		t.Skip("the controller pids is not this process's to use")
	}
	cmd, out := within(t, g, "sleep 60 & sleep 60 & sleep 60 & sleep 60 & sleep 60 & echo all")
	if err := cmd.Wait(); err == nil && strings.Contains(out.String(), "all") {
		t.Errorf("six tasks where four are permitted: %s", out)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	g := permitted(t, Limits{Memory: 32 << 20})
	if g.Limits().Memory == 0 {
		t.Skip("the controller memory is not this process's to use")
	}
	_ = write(filepath.Join(g.dir, "memory.swap.max"), "0") // or it would only be slow
	cmd, out := within(t, g, "exec dd if=/dev/zero of=/dev/null bs=256M count=1")
	if err := cmd.Wait(); err == nil || cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != unix.SIGKILL {
		t.Errorf("256 MiB where 32 are permitted: %v %s", err, out)
	}
	if g.Starved() == 0 {
		t.Error("nobody says that it was for want of memory")
	}
}

func TestWhatIsNotPermittedIsSaid(t *testing.T) {
	if _, err := makeIn(t.TempDir(), Limits{}); err == nil ||
		!strings.Contains(err.Error(), "not delegated to this process") {
		t.Errorf("of a folder that is no cgroup: %v", err)
	}
}

// Where there are others in this process's group nothing may be divided, or no process
// could begin in the groups below.
func TestThoseBesideOthersDivideNothing(t *testing.T) {
	if os.Getenv(alone) != "" {
		g, err := Make(Limits{Memory: 1 << 30, Tasks: 100})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Remove()
		if g.Limits() != (Limits{}) {
			t.Errorf("it has %+v", g.Limits())
		}
		return
	}
	outer := permitted(t, Limits{})
	beside, _ := within(t, outer, "sleep 60")
	defer beside.Process.Kill()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), alone+"=no")
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: outer.FD()}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	shared, err := os.ReadFile(filepath.Join(outer.dir, "cgroup.subtree_control"))
	if err != nil || len(bytes.TrimSpace(shared)) > 0 {
		t.Errorf("shared below is %q, %v", shared, err)
	}
}

// alone has this program be a process that is alone in its group, as an agent that a
// service manager has started; its value is the controller that it asks for.
const alone = "WEIR_TEST_ALONE"

func TestOneThatIsAloneMakesRoom(t *testing.T) {
	if controller := os.Getenv(alone); controller != "" {
		for range 2 { // again from the group that it has gone into
			g, err := Make(Limits{})
			if err != nil {
				t.Fatal(err)
			}
			if own := filepath.Dir(g.dir); !empty(own) || !enable(own, controller) {
				t.Errorf("%s is not shared below %s", controller, own)
			}
			if err := g.try(); err != nil {
				t.Error(err)
			}
			if err := g.Remove(); err != nil {
				t.Error(err)
			}
		}
		return
	}
	outer := permitted(t, Limits{})
	own := filepath.Dir(outer.dir)
	there, err := os.ReadFile(filepath.Join(own, "cgroup.controllers"))
	if err != nil {
		t.Fatal(err)
	}
	shared, err := os.ReadFile(filepath.Join(own, "cgroup.subtree_control"))
	if err != nil {
		t.Fatal(err)
	}
	some := strings.Fields(string(there))
	if len(some) == 0 || !empty(own) || !enable(own, some[0]) {
		t.Skipf("of the controllers %q none is this process's to use", some)
	}
	if !slices.Contains(strings.Fields(string(shared)), some[0]) {
		t.Cleanup(func() { _ = write(filepath.Join(own, "cgroup.subtree_control"), "-"+some[0]) })
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), alone+"="+some[0])
	cmd.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: outer.FD()}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if err := os.Remove(filepath.Join(outer.dir, agentGroup)); err != nil {
		t.Errorf("it did not move into the child cgroup: %v", err)
	}
}

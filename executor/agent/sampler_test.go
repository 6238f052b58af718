package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/workload"
)

// Files that a group's processes and their descendants have open are counted once, and those of its leader never.
func TestOpenFilesOfServices(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	script := `exec 9>` + dir + `/own0
sh -c 'exec 3>` + dir + `/dev0 4>` + dir + `/dev1 5>` + dir + `/other; echo up; exec sleep 60' &
setsid sh -c 'exec 3>` + dir + `/dev1 9>&- 4>` + dir + `/dev2; echo up; exec sleep 60' &
wait`
	cmd := exec.Command("sh", "-c", script)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &sampler{
		what: workload.Sampled{Opens: []string{dir + "/dev*", dir + "/none*", dir + "/own*"}},
		pid:  cmd.Process.Pid, ended: make(chan struct{}),
	}
	t.Cleanup(func() {
		for _, pid := range processesOf(s.pid) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		killGroup(s.pid)
		_ = cmd.Wait()
	})
	text := make([]byte, 64)
	for read := 0; read < len("up\nup\n"); {
		n, err := out.Read(text[read:])
		if err != nil {
			t.Fatal(err)
		}
		read += n
	}
	s.begin()
	got := s.samples(nil)
	// the shell of the first background job has own0 from its parent
	if !slices.Equal(got.Opened, []int{3, 0, 1}) || got.NotOpened != "" || got.NoMemory != "" {
		t.Errorf("%+v", got)
	}
}

func TestMemoryOfGPUsSinceTheLaunch(t *testing.T) {
	log, out := created(t, "gpu_memory.log")
	s := &sampler{what: workload.Sampled{GPUMemory: true}, memory: log, ended: make(chan struct{})}
	write := func(text string) {
		t.Helper()
		if _, err := out.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write("t0 a=900 b=1\nt1 a=5 b=6\n")
	s.begin()
	write("t2 a=7 b=3\nt3 a=99")
	if got := s.samples(nil); got.GPUMemory != 7 || got.NoMemory != "" {
		t.Errorf("%+v: the last complete line before and those since count", got)
	}
	s.noMemory = os.ErrNotExist
	close(s.ended)
	if got := s.samples(nil); got.GPUMemory != 0 || !strings.Contains(got.NoMemory, "the memory of GPUs is unknown") {
		t.Errorf("%+v", got)
	}
}

// A launch does not wait for samples that will not come.
func TestNoSamples(t *testing.T) {
	log, _ := created(t, "gpu_memory.log")
	s := &sampler{what: workload.Sampled{GPUMemory: true}, memory: log, ended: make(chan struct{})}
	close(s.ended)
	began := time.Now()
	s.begin()
	if took := time.Since(began); took > firstSample/2 {
		t.Errorf("it waited for %v", took)
	}
	if got := s.samples(nil); got.NoMemory == "" {
		t.Errorf("%+v", got)
	}
	var nothing *sampler
	nothing.begin()
	nothing.stop()
	if got := nothing.samples(nil); got.NoMemory != "" || got.Opened != nil {
		t.Errorf("%+v", got)
	}
}

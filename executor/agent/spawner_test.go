package agent

import (
	"github.com/weir-bench/weir/executor/host/cgroup"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/results"
)

// A rank stays on its processors, and later ones have all again.
func TestProcessesStayOnTheirProcessors(t *testing.T) {
	s := newSpawner(cgroup.Limits{}, nil)
	defer s.close()
	all := AllowedCPUs()
	one := all[len(all)-1:]
	for i, cpus := range [][]int{one, nil} {
		log := output(t)
		ended := make(chan event, 4)
		p, err := startProcess(s, forRanks, cpus,
			[]string{"grep", "Cpus_allowed_list", "/proc/self/status"}, os.Environ(),
			log, func(e event) { ended <- e })
		if err != nil {
			t.Fatal(err)
		}
		for e := range ended {
			if e.exit != nil {
				break
			}
		}
		p.release()
		text, err := os.ReadFile(log.Name())
		_, got, _ := strings.Cut(strings.TrimSpace(string(text)), "\t")
		if want := results.FormatCPUs([][]int{one, all}[i]); err != nil || got != want {
			t.Errorf("on %q, want %q (%v)", got, want, err)
		}
	}
	if _, err := startProcess(s, forRanks, []int{1 << 15}, []string{"true"}, os.Environ(), output(t),
		func(event) {}); err == nil {
		t.Error("a process runs on a processor that there is not")
	}
}

// output is a file for the output of a process.
func output(t *testing.T) *os.File {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestVisibleGPUs(t *testing.T) {
	for own, want := range map[string]string{
		"": "", "0,2": "0 2", "1,9,0": "1", "-1,0": "", "GPU-abc, GPU-def": "GPU-abc GPU-def", "1,1": "1",
	} {
		t.Setenv("CUDA_VISIBLE_DEVICES", own)
		if got := strings.Join(visibleGPUs(4), " "); got != want {
			t.Errorf("%q leaves %q, want %q", own, got, want)
		}
		if got := visibleGPUs(0); got != nil {
			t.Errorf("%q makes GPUs %v", own, got)
		}
	}
	os.Unsetenv("CUDA_VISIBLE_DEVICES")
	if got := strings.Join(visibleGPUs(2), " "); got != "0 1" {
		t.Errorf("all are %q", got)
	}
}

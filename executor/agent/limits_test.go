package agent

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/host/cgroup"
)

// Processes that a command leaves in another process group end with the agent.
func TestNothingOutlivesTheAgent(t *testing.T) {
	s := newSpawner(cgroup.Limits{}, nil)
	out, err := s.output(t.Context(), time.Minute, forRanks,
		[]string{"sh", "-c", "setsid sleep 600 >/dev/null 2>&1 & echo $!"},
		os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	left := &process{pid: pid}
	if dead(left.state()) {
		t.Fatal("it was killed with the command")
	}
	if err := s.close(); err != nil {
		t.Error(err)
	}
	if s.applied.group == nil {
		killGroup(pid)
		t.Skip(s.applied.reason)
	}
	if !dead(left.state()) {
		t.Errorf("it is in state %c", left.state())
	}
}

// When memory runs out, the kernel kills a rank before its agent; without a control group, limits apply to each
// process.
func TestProcessesAreBounded(t *testing.T) {
	s := newSpawner(cgroup.Limits{Memory: 1 << 30, Tasks: 3000}, nil)
	defer s.close()
	// the bounds come when it has begun
	out, err := s.output(t.Context(), time.Minute, forRanks,
		[]string{"sh", "-c", "read -r score </proc/self/oom_score_adj; while [ $score != " + oomScoreAdj +
			" ]; do sleep 0.1; read -r score </proc/self/oom_score_adj; done; sleep 0.2; ulimit -d; ulimit -p || ulimit -u"},
		os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	got, held := strings.Fields(string(out)), s.applied.groupLimits()
	if len(got) != 2 {
		t.Fatalf("%q", out)
	}
	if want := strconv.Itoa(1 << 20); (got[0] == want) == (held.Memory > 0) {
		t.Errorf("ulimit -d is %s (KiB), the group holds %d", got[0], held.Memory)
	}
	if (got[1] == "3000") == (held.Tasks > 0) {
		t.Errorf("ulimit -u is %s, the group holds %d", got[1], held.Tasks)
	}
}

func TestBoundsAreSaid(t *testing.T) {
	text := DescribeLimits(cgroup.Limits{Memory: 64 << 30, Tasks: 4096})
	for _, part := range []string{"64GiB of ", "4096 tasks"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not have %q", text, part)
		}
	}
	t.Log(text)
}

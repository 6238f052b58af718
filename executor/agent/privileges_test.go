package agent

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/host/cgroup"
)

// atStart is the status of this process before its first thread was confined.
var atStart, _ = os.ReadFile("/proc/self/status")

// Processes of weir's own engine have only a rank's privileges; a scenario's commands keep those of their user.
func TestRanksHaveNoPrivileges(t *testing.T) {
	s := newSpawner(cgroup.Limits{}, nil)
	defer s.close()
	status := func(as privileges) string {
		out, err := s.output(t.Context(), time.Minute, as, []string{"cat", "/proc/self/status"}, os.Environ())
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	rank, command := status(forRanks), status(forCommands)
	const gains = "NoNewPrivs:\t0\n" // unless this process cannot either
	if !strings.Contains(rank, "NoNewPrivs:\t1\n") ||
		strings.Contains(string(atStart), gains) != strings.Contains(command, gains) {
		t.Errorf("of a rank %s\nof a command %s", rank, command)
	}
	if os.Geteuid() == 0 && !strings.Contains(rank, "CapEff:\t0000000000804000\n") {
		t.Errorf("a rank of root has %s", rank)
	}
}

// The environment of processes is composed in one place.
func TestOneFunctionMakesEnvironments(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") ||
			f.Name() == "environment.go" {
			continue
		}
		text, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, own := range []string{"os.Environ(", ".Compose(", "os.Setenv("} {
			if strings.Contains(string(text), own) {
				t.Errorf("%s has %s", f.Name(), own)
			}
		}
	}
}

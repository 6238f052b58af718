package agent

import (
	"os/exec"
	"strings"
	"testing"
	"time"
	"weir/executor/cgroup"
)

func startMember(t *testing.T, argv ...string) *member {
	t.Helper()
	s := newSpawner(cgroup.Limits{}, nil) // which gives it a group of its own
	t.Cleanup(func() { s.close() })
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := s.start(cmd, ofRanks); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &member{process: &process{pid: cmd.Process.Pid, cmd: cmd}}
}

func awaitZombie(t *testing.T, m *member) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); m.state() != 'Z'; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is in state %c", m.pid, m.state())
		}
	}
}

// TestRankThatDiedBeforeItWasKilledIsToBlame, even when its peer complained first and
// the machine was too busy to tell of its end.
func TestRankThatDiedBeforeItWasKilledIsToBlame(t *testing.T) {
	for name, test := range map[string]struct {
		argv  []string
		dead  bool
		blame bool
	}{
		"died":      {[]string{"sh", "-c", "kill -9 $$"}, true, true},
		"left":      {[]string{"sh", "-c", "exit 1"}, true, false}, // told to stop, some do
		"is killed": {[]string{"sleep", "60"}, false, false},
	} {
		m := startMember(t, test.argv...)
		if test.dead {
			awaitZombie(t, m)
		}
		now := time.Now()
		l := &launch{
			task: &assignment{}, a: &Agent{}, ranks: []*member{m}, told: now, suspects: []suspect{
				{kind: kindPeer, rank: 1, at: now, cause: "connection reset"},
			},
		}
		l.killAll(now)
		_ = m.cmd.Wait() // its state says it
		l.exited(m, m.cmd.ProcessState)
		if got := judge(l.suspects); (got.kind == kindDied) != test.blame ||
			test.blame && got.cause != "killed by signal 9 (SIGKILL)" {
			t.Errorf("a rank that %s: %+v", name, got)
		}
	}
}

// TestZombieHasBeenKilled: it is waited for, and only one that lives is stuck.
func TestZombieHasBeenKilled(t *testing.T) {
	dead, alive := startMember(t, "true"), startMember(t, "sleep", "60")
	awaitZombie(t, dead)
	now := time.Now()
	l := &launch{task: &assignment{}, a: &Agent{}, ranks: []*member{dead}, told: now, killed: now}
	if !l.hurry(now.Add(unkillable)) || len(l.suspects) > 0 {
		t.Errorf("a zombie is not waited for: %+v", l.suspects)
	}
	if l.hurry(now.Add(unreaped)) || len(l.suspects) != 1 || !strings.HasPrefix(l.suspects[0].cause, "was killed") {
		t.Errorf("a zombie is waited for without end: %+v", l.suspects)
	}
	l = &launch{task: &assignment{}, a: &Agent{}, ranks: []*member{dead, alive}, told: now, killed: now}
	if l.hurry(now.Add(unkillable)) || len(l.suspects) != 1 ||
		!strings.HasPrefix(l.suspects[0].cause, "cannot be killed") {
		t.Errorf("what lives is waited for: %+v", l.suspects)
	}
}

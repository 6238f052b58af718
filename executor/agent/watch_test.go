package agent

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestZombieHasBeenKilled: it is waited for, and only one that lives is stuck.
func TestZombieHasBeenKilled(t *testing.T) {
	start := func(argv ...string) *member {
		cmd := exec.Command(argv[0], argv[1:]...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return &member{process: &process{pid: cmd.Process.Pid}}
	}
	dead, alive := start("true"), start("sleep", "60")
	for deadline := time.Now().Add(5 * time.Second); dead.state() != 'Z'; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("true is in state %c", dead.state())
		}
	}
	now := time.Now()
	l := &launch{a: &Agent{}, ranks: []*member{dead}, told: now, killed: now}
	if !l.hurry(now.Add(unkillable)) || len(l.suspects) > 0 {
		t.Errorf("a zombie is not waited for: %+v", l.suspects)
	}
	if l.hurry(now.Add(unreaped)) || len(l.suspects) != 1 || !strings.HasPrefix(l.suspects[0].cause, "was killed") {
		t.Errorf("a zombie is waited for without end: %+v", l.suspects)
	}
	l = &launch{a: &Agent{}, ranks: []*member{dead, alive}, told: now, killed: now}
	if l.hurry(now.Add(unkillable)) || len(l.suspects) != 1 || !strings.HasPrefix(l.suspects[0].cause, "cannot be killed") {
		t.Errorf("what lives is waited for: %+v", l.suspects)
	}
}

package agent

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/executor/wire"
	"github.com/weir-bench/weir/internal/child"
)

func startMember(t *testing.T, argv ...string) *localRank {
	t.Helper()
	s := newSpawner(cgroup.Limits{}, nil) // which gives it a group of its own
	killed := child.MemoryKills()
	t.Cleanup(func() { s.close() })
	cmd := exec.Command(argv[0], argv[1:]...)
	if err := s.start(cmd, forRanks); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &localRank{process: &process{pid: cmd.Process.Pid, cmd: cmd, ownKillsBefore: killed}}
}

func awaitZombie(t *testing.T, m *localRank) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); m.state() != 'Z'; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d is in state %c", m.pid, m.state())
		}
	}
}

// TestRankThatDiedBeforeItWasKilledIsTheRootCause, even if its peer failed first and its end was reported late.
func TestRankThatDiedBeforeItWasKilledIsTheRootCause(t *testing.T) {
	for name, test := range map[string]struct {
		argv      []string
		dead      bool
		rootCause bool
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
		l := &nodeLaunch{
			task: &assignment{}, a: &Agent{}, ranks: []*localRank{m}, stopSent: now, causes: []cause{
				{kind: causePeer, rank: 1, at: now, text: "connection reset"},
			},
		}
		l.killAll(now)
		_ = m.cmd.Wait() // its state says it
		l.onExit(m, m.cmd.ProcessState)
		if got := rootCause(l.causes); (got.kind == causeDied) != test.rootCause ||
			test.rootCause && got.text != "killed by signal 9 (SIGKILL)" {
			t.Errorf("a rank that %s: %+v", name, got)
		}
	}
}

// TestZombieHasBeenKilled: only a process that runs after SIGKILL is stuck.
func TestZombieHasBeenKilled(t *testing.T) {
	dead, alive := startMember(t, "true"), startMember(t, "sleep", "60")
	awaitZombie(t, dead)
	now := time.Now()
	l := &nodeLaunch{task: &assignment{}, a: &Agent{}, ranks: []*localRank{dead}, stopSent: now, killSent: now}
	if !l.enforceStop(now.Add(unkillable)) || len(l.causes) > 0 {
		t.Errorf("a zombie is not waited for: %+v", l.causes)
	}
	if l.enforceStop(now.Add(unreaped)) || len(l.causes) != 1 || !strings.HasPrefix(l.causes[0].text, "was killed") {
		t.Errorf("a zombie is waited for without end: %+v", l.causes)
	}
	l = &nodeLaunch{task: &assignment{}, a: &Agent{}, ranks: []*localRank{dead, alive}, stopSent: now, killSent: now}
	if l.enforceStop(now.Add(unkillable)) || len(l.causes) != 1 ||
		!strings.HasPrefix(l.causes[0].text, "cannot be killed") {
		t.Errorf("what lives is waited for: %+v", l.causes)
	}
}

// TestErrorThatIsReadAfterItsConsequence: rank 0 fails in connect, and its peer's "connection reset" is read first.
func TestErrorThatIsReadAfterItsConsequence(t *testing.T) {
	for _, test := range []struct {
		stage stage
		code  int
		rank  int
	}{
		{connecting, -int(unix.EIO), 0},
		{running, -int(unix.EIO), 0},
		{connecting, -int(unix.ECANCELED), 1}, // it was told to stop
		{closing, -int(unix.EIO), 1},
	} {
		m := startMember(t, "sleep", "60")
		m.stage, m.control = test.stage, &engine.Control{}
		now := time.Now()
		l := &nodeLaunch{
			task: &assignment{}, a: &Agent{}, ranks: []*localRank{m}, stopSent: now, causes: []cause{
				{kind: causePeer, rank: 1, at: now, text: "connection reset"},
			},
		}
		l.onFailure(m, wire.EncodeFailure(&engine.Error{Fabric: "ucx", Op: "listen", Peer: -1, Code: test.code}))
		if got := rootCause(l.causes); got.rank != test.rank {
			t.Errorf("stage %d, code %d: the cause is %+v", test.stage, test.code, got)
		}
	}
}

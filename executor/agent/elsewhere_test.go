package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/workload/move"
)

// node is a directory with an agent's logs and, beside them, other files.
type node struct {
	t                  *testing.T
	dir, logs, victim  string
	inLogs, inLinkedTo string // a file of another task, a directory that a link in logs names
}

const theirs = "the node owner's\n"

func newNode(t *testing.T) *node {
	t.Helper()
	dir := t.TempDir()
	n := &node{t: t, dir: dir, logs: filepath.Join(dir, "logs")}
	n.victim, n.inLinkedTo = filepath.Join(dir, "victim.log"), filepath.Join(dir, "linked")
	n.inLogs = filepath.Join(n.logs, "g", "0", "0.log")
	for _, d := range []string{filepath.Dir(n.inLogs), n.inLinkedTo} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{n.victim, n.inLogs} {
		if err := os.WriteFile(file, []byte(theirs), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link.log": n.victim, "link": n.inLinkedTo, "up": ".."} {
		if err := os.Symlink(to, filepath.Join(n.logs, name)); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// untouched checks that only logs changed, and of these not the other task's.
func (n *node) untouched(after string) {
	n.t.Helper()
	for _, file := range []string{n.victim, n.inLogs} {
		if b, err := os.ReadFile(file); err != nil || string(b) != theirs {
			n.t.Errorf("after %s: %s: %q, %v", after, file, b, err)
		}
	}
	for dir, want := range map[string]int{n.dir: 3, n.inLinkedTo: 0} {
		if files, err := os.ReadDir(dir); err != nil || len(files) != want {
			n.t.Errorf("after %s: in %s: %v, %v", after, dir, files, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(n.logs, "link.log")); err != nil {
		n.t.Errorf("after %s: %v", after, err)
	}
}

// launchTask is a launch of one rank, which its node can run alone.
func (c *coordinator) launchTask(t *testing.T, name, logs string, env map[string]string) Task {
	t.Helper()
	packed, err := Pack(engine.Launch{ID: name, Ranks: 1, Nodes: []string{"n1"}, Runner: move.NativeRunner,
		Cases: []engine.Case{
			caseOf("c", move.Spec{Iterations: 1, BlockSize: 1}, time.Second),
		}})
	if err != nil {
		t.Fatal(err)
	}
	return Task{Launch: &LaunchTask{Packed: packed, Ranks: []int{0}, LogDir: logs, Env: env}}
}

// answer starts a task and returns its first report, and the cause in it.
func (c *coordinator) answer(t *testing.T, name string, task Task, reports <-chan Report) (Report, string) {
	t.Helper()
	c.place(name, task)
	r := <-reports
	if r.Failing != "" { // told to other nodes first
		r = <-reports
	}
	switch {
	case r.Outcome != nil && r.Outcome.Failure != nil:
		return r, r.Outcome.Failure.Cause
	case r.Command != nil:
		return r, r.Command.Reason
	}
	return r, ""
}

// Files outside of the agent's log directory that a session names are not created, read, sent or removed, and the
// node's owner is told.
func TestACoordinatorNamesFilesElsewhere(t *testing.T) {
	n := newNode(t)
	told := make(chan string, 20)
	c, reports := joined(t, Options{
		LogDir: n.logs, ShipLogs: true, RefuseCommands: true, Refused: func(why string) { told <- why },
	})
	run := []string{"true"}
	tasks := map[string]Task{
		"launch, above":    c.launchTask(t, "launch, above", "../made", nil),
		"launch, absolute": c.launchTask(t, "launch, absolute", filepath.Join(n.dir, "made"), nil),
	}
	for name, log := range map[string]string{
		"above": "../victim.log", "absolute": n.victim, "through a directory": "g/../../victim.log",
		"another form": "g//0/0.log", "the directory above": "..", "none": "",
	} {
		tasks[name] = Task{Command: &CommandTask{Name: "run", Command: run, Log: log}}
	}
	for name, task := range tasks {
		r, cause := c.answer(t, name, task, reports)
		if r.Outcome == nil || !strings.Contains(cause, "is not below the agent's log directory") {
			t.Errorf("%s: %q, %+v", name, cause, r)
		}
		select { // before the session
		case why := <-told:
			if !strings.Contains(why, "is not below the agent's log directory") {
				t.Errorf("%s: the owner is told %q", name, why)
			}
		default:
			t.Errorf("%s: the owner is not told", name)
		}
		n.untouched(name)
	}
}

// Links in the log directory do not lead out of it, whatever is permitted.
func TestLinksLeadOutOfNoLogDirectory(t *testing.T) {
	n := newNode(t)
	c, reports := joined(t, Options{LogDir: n.logs, ShipLogs: true})
	run := []string{"echo", "written"}
	for name, task := range map[string]Task{
		"a link to a file":         {Command: &CommandTask{Name: "run", Command: run, Log: "link.log"}},
		"a link to a directory":    {Command: &CommandTask{Name: "run", Command: run, Log: "link/made.log"}},
		"a link upwards":           {Command: &CommandTask{Name: "run", Command: run, Log: "up/victim.log"}},
		"a launch through a link":  c.launchTask(t, "a launch through a link", "link", nil),
		"a launch through another": c.launchTask(t, "a launch through another", "up/made", nil),
	} {
		if r, cause := c.answer(t, name, task, reports); r.Log != nil || !strings.Contains(cause, "escapes") {
			t.Errorf("%s: %q, %+v", name, cause, r)
		}
		n.untouched(name)
	}
}

// Logs of a task that an agent refuses are not read, sent or removed, although a file with their name exists.
func TestNothingIsShippedOfARefusedTask(t *testing.T) {
	n := newNode(t)
	c, reports := joined(t, Options{LogDir: n.logs, ShipLogs: true, RefuseCommands: true})
	for name, task := range map[string]Task{
		"command": {Command: &CommandTask{Name: "run", Command: []string{"true"}, Log: "g/0/0.log"}},
		"launch":  c.launchTask(t, "launch", "g", map[string]string{"LD_PRELOAD": "/nowhere/x.so"}),
	} {
		r, cause := c.answer(t, name, task, reports)
		if !strings.Contains(cause, "--allow-") || r.Command != nil && len(r.Command.Log) > 0 ||
			r.Outcome != nil && len(r.Outcome.Failure.Log) > 0 {
			t.Errorf("%s: %q, %+v %+v", name, cause, r, r.Command)
		}
		n.untouched(name)
	}
}

// The log of a rank that was started is shipped before the outcome, and its file removed.
func TestLogsOfRanksAreShipped(t *testing.T) {
	n := newNode(t)
	c, reports := joined(t, Options{LogDir: n.logs, ShipLogs: true, RefuseCommands: true})
	r, _ := c.answer(t, "l", c.launchTask(t, "l", "h", nil), reports)
	if r.Log == nil || r.Log.Name != "h/0/0.log" || len(r.Log.Text) > 0 {
		t.Errorf("%+v", r)
	}
	if r = <-reports; r.Outcome == nil || r.Outcome.Failure == nil {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(n.logs, "h", "0", "0.log")); !os.IsNotExist(err) {
		t.Errorf("the log is still there: %v", err)
	}
	n.untouched("a launch")
}

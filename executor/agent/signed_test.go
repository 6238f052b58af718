package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/executor/trust"
)

// Who can write to etcd, and has not the session's key, has an agent run nothing: not
// a text of his own, nor one that was placed elsewhere, under another name, or before.
func TestOnlyTheSessionsOwnTasksAreDone(t *testing.T) {
	c, reports := joined(t, Options{})
	mark := filepath.Join(t.TempDir(), "mark")
	spec, err := Task{Check: &CheckTask{Name: "touch", Command: []string{"touch", mark}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := trust.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	about := func(session, node, task string) trust.Subject {
		return trust.Subject{Session: session, Node: node, Name: task}
	}
	for task, text := range map[string][]byte{
		"bare":            spec,
		"empty":           nil,
		"a-stranger's":    Seal(stranger, about("s", "n1", "a-stranger's"), 901, spec),
		"another-session": Seal(c.Key, about("r", "n1", "another-session"), 902, spec),
		"another-node":    Seal(c.Key, about("s", "n2", "another-node"), 903, spec),
		"another-task":    Seal(c.Key, about("s", "n1", "task"), 904, spec),
		"changed":         append(Seal(c.Key, about("s", "n1", "changed"), 905, spec), 'x'),
	} {
		if err := c.put(task, text); err != nil {
			t.Fatal(err)
		}
		r := <-reports
		if r.Outcome == nil || r.Task != task || !strings.Contains(r.Outcome.Failure.Cause, "signature") {
			t.Errorf("%s: %+v", task, r)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("a command was run that the session did not sign")
	}
	sealed := Seal(c.Key, about("s", "n1", "own"), 1, spec)
	for i, want := range []string{"", "placed before"} { // the second time, the session has nothing to do with it
		if err := c.put("own", sealed); err != nil {
			t.Fatal(err)
		}
		switch r := <-reports; {
		case want == "" && (r.Check == nil || r.Check.Status != "ok"):
			t.Fatalf("the session's own task: %+v", r)
		case want != "" && (r.Outcome == nil || !strings.Contains(r.Outcome.Failure.Cause, want)):
			t.Errorf("time %d: %+v", i+1, r)
		}
		if i == 0 {
			if err := os.Remove(mark); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command was run twice")
	}
}

func TestAnAgentWithoutCommandsRunsNone(t *testing.T) {
	c, reports := joined(t, Options{NoCommands: true})
	mark := filepath.Join(t.TempDir(), "mark")
	for name, task := range map[string]Task{
		"check":   {Check: &CheckTask{Name: "touch", Command: []string{"touch", mark}}},
		"command": {Command: &CommandTask{Name: "touch", Command: []string{"touch", mark}, Log: "c.log"}},
	} {
		spec, err := task.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.place(name, spec); err != nil {
			t.Fatal(err)
		}
		r := <-reports
		var reason string
		if r.Check != nil {
			reason = r.Check.Reason
		} else if r.Command != nil {
			reason = r.Command.Reason
		}
		if !strings.Contains(reason, "--allow-commands") {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command was run")
	}
}

// Logs of an agent whose files are not the session's come as reports, whole and before
// the end of their task.
func TestLogsAreShipped(t *testing.T) {
	c, reports := joined(t, Options{ShipLogs: true})
	spec, err := Task{Command: &CommandTask{Name: "much",
		Command: []string{"sh", "-c", "head -c 2500000 /dev/zero; echo end"}, Log: "commands/much.log"}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.place("much", spec); err != nil {
		t.Fatal(err)
	}
	var text []byte
	for r := range reports {
		if r.Command != nil {
			break
		}
		if r.Log == nil || r.Log.Name != "commands/much.log" || r.Log.From != int64(len(text)) {
			t.Fatalf("%+v", r)
		}
		text = append(text, r.Log.Text...)
	}
	if len(text) != 2500004 || !strings.HasSuffix(string(text), "end\n") {
		t.Errorf("%d bytes came", len(text))
	}
}

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAnAgentWithoutCommandsRunsNone(t *testing.T) {
	c, reports := joined(t, Options{RefuseCommands: true})
	mark := filepath.Join(t.TempDir(), "mark")
	for name, task := range map[string]Task{
		"check":   {Check: &CheckTask{Name: "touch", Command: []string{"touch", mark}}},
		"command": {Command: &CommandTask{Name: "touch", Command: []string{"touch", mark}, Log: "c.log"}},
	} {
		c.place(name, task)
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

// Logs of an agent with its own log directory come as reports, complete and before the end of their task.
func TestLogsAreShipped(t *testing.T) {
	c, reports := joined(t, Options{ShipLogs: true})
	c.place("much", Task{Command: &CommandTask{Name: "much",
		Command: []string{"sh", "-c", "head -c 2500000 /dev/zero; echo end"}, Log: "commands/much.log"}})
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

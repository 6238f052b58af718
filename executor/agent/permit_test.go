package agent

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/engine"
	"weir/executor/cluster"
	"weir/results"
)

func TestWhatAnAgentWithoutCommandsPermits(t *testing.T) {
	t.Setenv("WEIR_TEST_SECRET", "/etc/passwd")
	a := New(Options{
		NoCommands: true, AllowEnv: []string{"MINE"},
		Shell: map[string]string{"UCX_TLS": "tcp", "UCX_PROFILE_MODE": "log"},
	})
	if want := map[string]string{"UCX_TLS": "tcp"}; !maps.Equal(a.shell, want) {
		t.Errorf("of the shell processes get %v", a.shell)
	}
	shell := "the shell of weir run sets UCX_PROFILE_MODE: UCX_PROFILE_MODE is none of the variables that this agent takes; unset it there, or whoever runs the node can start its agent with --allow-env UCX_PROFILE_MODE"
	if err := a.permits(nil, nil); err == nil || err.Error() != shell {
		t.Errorf("%v", err)
	}
	got := a.problems(SecretsTask{
		Names: []string{"WEIR_TEST_SECRET", "file:/etc/passwd"}, Variables: []string{"UCX_GDB_COMMAND", "UCX_TLS"},
		Env: map[string][]string{
			"UCX_LOG_FILE": {"x", "y"}, "UCX_RNDV_THRESH": {"8k", "`id`", "a/b"}, "MINE": {"/any"},
			"FI_PROVIDER": {"tcp"},
		},
	})
	want := []string{
		"secret file:/etc/passwd: this agent takes no files for secrets: whoever runs the node can start it with --secrets DIR, which has them",
		"the scenario sets UCX_GDB_COMMAND: UCX_GDB_COMMAND is none of the variables that this agent takes; whoever runs the node can start its agent with --allow-env UCX_GDB_COMMAND",
		"the scenario sets UCX_LOG_FILE: UCX_LOG_FILE is none of the variables that this agent takes; whoever runs the node can start its agent with --allow-env UCX_LOG_FILE",
		"the scenario sets UCX_RNDV_THRESH: UCX_RNDV_THRESH has a value with a slash, a backquote, $( or a line break, which this agent refuses; whoever runs the node can start its agent with --allow-env UCX_RNDV_THRESH",
		shell,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if got := New(Options{Shell: a.o.Shell}).problems(SecretsTask{Names: []string{"WEIR_TEST_SECRET"},
		Variables: []string{"UCX_GDB_COMMAND"}, Env: map[string][]string{"LD_PRELOAD": {"/x"}}}); got != nil {
		t.Errorf("an agent with commands: %v", got)
	}
}

// launched places a launch of one rank and gives its outcome and what the rank saw, "" if
// there was none.
func launched(t *testing.T, o Options, task LaunchTask) (*Outcome, string) {
	t.Helper()
	return launchedBy(t, o, "", task)
}

// programs is a runner whose ranks are programs that a scenario names.
type programs struct{ engine.Runner }

func (programs) RunsCommands() {}

func launchedBy(t *testing.T, o Options, runner string, task LaunchTask) (*Outcome, string) {
	t.Helper()
	saw := filepath.Join(t.TempDir(), "environment")
	o.RankCommand = []string{"sh", "-c", "env >" + saw}
	c, reports := joined(t, o)
	packed, err := Pack(engine.Launch{
		ID: "task", Runner: runner, Ranks: 1, Nodes: []string{"n1"}, Cases: []engine.Case{{Key: "c"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	task.Text, task.Ranks, task.LogDir = cluster.TextFor(packed, 1), []int{0}, "g"
	spec, err := Task{Launch: &task}.Encode()
	if err == nil {
		err = c.Share(c.ctx, "task", task.Text, packed)
	}
	if err == nil {
		err = c.place("task", spec)
	}
	if err != nil {
		t.Fatal(err)
	}
	for r := range reports {
		if r.Outcome != nil {
			text, _ := os.ReadFile(saw)
			return r.Outcome, string(text)
		}
	}
	return nil, ""
}

// Whatever a coordinator signs, an agent without commands starts no rank with variables
// that would have a library write, read, run or load something.
func TestHostileVariablesStartNoRank(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("of the node's owner"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		shell map[string]string
		task  LaunchTask
		want  string
	}{
		"a log in a file": {nil, LaunchTask{Env: map[string]string{"UCX_LOG_FILE": dir + "/.bashrc"}}, "UCX_LOG_FILE"},

		"a command for errors": {nil, LaunchTask{Env: map[string]string{"UCX_HANDLE_ERRORS": "debug"}},
			"UCX_HANDLE_ERRORS"},
		"a library": {nil, LaunchTask{Env: map[string]string{"LD_PRELOAD": dir + "/pre.so"}}, "LD_PRELOAD"},
		"a file as a secret": {nil, LaunchTask{Secrets: map[string]string{"UCX_TLS": "file:" + secret}},
			"--secrets DIR"},

		"a secret for a command": {nil, LaunchTask{Secrets: map[string]string{"UCX_GDB_COMMAND": "PATH"}},
			"UCX_GDB_COMMAND"},

		"a secret that is a path": {nil, LaunchTask{Secrets: map[string]string{"UCX_TLS": "PATH"}},
			"UCX_TLS has a value with a slash"},

		"a shell that has it": {map[string]string{"UCX_PROFILE_FILE": dir + "/x"}, LaunchTask{}, "UCX_PROFILE_FILE"},

		"a seat with a strange NIC": {nil, LaunchTask{Seats: []results.Seat{{NICs: []string{"../x"}}}},
			"which this node does not have"},
	} {
		o, saw := launched(t, Options{NoCommands: true, Shell: c.shell}, c.task)
		if o.Failure == nil || o.Failure.Node != "n1" || !strings.Contains(o.Failure.Cause, c.want) || saw != "" {
			t.Errorf("%s: %+v, and the rank saw %q", name, o.Failure, saw)
		}
	}
}

// An agent without commands starts no rank of a runner that runs a scenario's programs;
// others tell such a rank where its scratch directories are, and no other rank.
func TestProgramsOfAScenarioAreCommands(t *testing.T) {
	const runner = "programs of a test"
	engine.Register(runner, programs{})
	o, saw := launchedBy(t, Options{NoCommands: true}, runner, LaunchTask{})
	if o.Failure == nil || !strings.Contains(o.Failure.Cause, "--allow-commands") || saw != "" {
		t.Errorf("%+v, and the rank saw %q", o.Failure, saw)
	}
	for of, has := range map[string]bool{runner: true, "": false} {
		_, saw := launchedBy(t, Options{}, of, LaunchTask{})
		for _, name := range []string{engine.LaunchScratch, engine.SessionScratch} {
			if strings.Contains(saw, name+"=/") != has {
				t.Errorf("runner %q: %s in %s", of, name, saw)
			}
		}
	}
}

// What a seat says of variables is not believed, and weir's own values cannot be replaced,
// whoever asks.
func TestARankHasWeirsOwnVariables(t *testing.T) {
	task := LaunchTask{
		Env: map[string]string{
			"UCX_TLS": "tcp", "UCX_HANDLE_ERRORS": "debug", "UCX_POSIX_DIR": "/tmp", "UCX_MEM_EVENTS=y;": "x",
		},
		Seats: []results.Seat{{CPUs: "0", Env: map[string]string{"LD_PRELOAD": "/tmp/pre.so", "UCX_TLS": "rc"}}},
	}
	o, saw := launched(t, Options{Shell: map[string]string{"UCX_ERROR_SIGNALS": "SIGURG", "FI_PROVIDER": "tcp"}}, task)
	for _, want := range []string{
		"UCX_TLS=tcp\n", "UCX_HANDLE_ERRORS=none\n", "UCX_ERROR_SIGNALS=\n", "UCX_MEM_EVENTS=n\n", "FI_PROVIDER=tcp\n",
	} {
		if !strings.Contains(saw, want) {
			t.Errorf("the rank lacks %q: %s", want, saw)
		}
	}
	for _, not := range []string{"LD_PRELOAD", "UCX_POSIX_DIR=/tmp\n", "debug", "SIGURG"} {
		if strings.Contains(saw, not) {
			t.Errorf("the rank has %s", not)
		}
	}
	var replaced []string
	for _, v := range o.Ignored {
		if v.ByWeir {
			replaced = append(replaced, v.Name)
		}
	}
	if got := strings.Join(replaced, " "); got != "UCX_ERROR_SIGNALS UCX_HANDLE_ERRORS UCX_MEM_EVENTS UCX_POSIX_DIR" {
		t.Errorf("replaced are %s", got)
	}
	var told []string
	for _, v := range o.Variables {
		if _, ours := os.LookupEnv(v.Name); !ours { // of the shell that runs the test
			told = append(told, v.Name+"="+v.String())
		}
	}
	if got := strings.Join(told, " "); got != "FI_PROVIDER=tcp (shell) UCX_TLS=tcp (scenario)" {
		t.Errorf("recorded are %s", got)
	}
}

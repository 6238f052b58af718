package agent

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
)

func TestWhatAnAgentWithoutCommandsPermits(t *testing.T) {
	t.Setenv("WEIR_TEST_SECRET", "/etc/passwd")
	a := New(Options{
		RefuseCommands: true, AllowEnv: []string{"MINE"},
		Shell: map[string]string{"UCX_TLS": "tcp", "UCX_PROFILE_MODE": "log"},
	})
	if want := map[string]string{"UCX_TLS": "tcp"}; !maps.Equal(a.shell, want) {
		t.Errorf("of the shell processes get %v", a.shell)
	}
	shell := "the shell of weir run sets UCX_PROFILE_MODE: UCX_PROFILE_MODE is none of the variables that this agent takes; unset it there, or the node's owner can start its agent with --allow-env UCX_PROFILE_MODE"
	if err := a.checkEnvironment(nil, nil); err == nil || err.Error() != shell {
		t.Errorf("%v", err)
	}
	got := a.secretProblems(SecretsTask{
		Names: []string{"WEIR_TEST_SECRET", "file:/etc/passwd"}, Variables: []string{"UCX_GDB_COMMAND", "UCX_TLS"},
		Env: map[string][]string{
			"UCX_LOG_FILE": {"x", "y"}, "UCX_RNDV_THRESH": {"8k", "`id`", "a/b"}, "MINE": {"/any"},
			"FI_PROVIDER": {"tcp"},
		},
	})
	want := []string{
		"secret file:/etc/passwd: this agent takes no files for secrets: the node's owner can start it with --secrets DIR, which has them",
		"the scenario sets UCX_GDB_COMMAND: UCX_GDB_COMMAND is none of the variables that this agent takes; the node's owner can start its agent with --allow-env UCX_GDB_COMMAND",
		"the scenario sets UCX_LOG_FILE: UCX_LOG_FILE is none of the variables that this agent takes; the node's owner can start its agent with --allow-env UCX_LOG_FILE",
		"the scenario sets UCX_RNDV_THRESH: UCX_RNDV_THRESH has a value with a slash, a backquote, $( or a line break, which this agent refuses; the node's owner can start its agent with --allow-env UCX_RNDV_THRESH",
		shell,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	if got := New(Options{Shell: a.o.Shell}).secretProblems(SecretsTask{Names: []string{"WEIR_TEST_SECRET"},
		Variables: []string{"UCX_GDB_COMMAND"}, Env: map[string][]string{"LD_PRELOAD": {"/x"}}}); got != nil {
		t.Errorf("an agent with commands: %v", got)
	}
}

// launched starts a launch of one rank and returns its outcome and the rank's environment; "": it did not start.
func launched(t *testing.T, o Options, task LaunchTask) (*Outcome, string) {
	t.Helper()
	return launchedBy(t, o, "", task)
}

// programs is a runner that runs programs of a scenario.
type programs struct{ engine.Runner }

func (programs) RunsCommands() {}

func launchedBy(t *testing.T, o Options, runner string, task LaunchTask) (*Outcome, string) {
	t.Helper()
	return launchedOf(t, o, runner, "", task)
}

// launchedOf is launchedBy with a case of a specification.
func launchedOf(t *testing.T, o Options, runner, spec string, task LaunchTask) (*Outcome, string) {
	t.Helper()
	saw := filepath.Join(t.TempDir(), "environment")
	o.RankCommand = []string{"sh", "-c", "env >" + saw}
	c, reports := joined(t, o)
	packed, err := Pack(engine.Launch{
		ID: "task", Runner: runner, Ranks: 1, Nodes: []string{"n1"},
		Cases: []engine.Case{{Key: "c", Spec: specification(t, spec)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	task.Packed, task.Ranks, task.LogDir = packed, []int{0}, "g"
	c.place("task", Task{Launch: &task})
	for r := range reports {
		if r.Outcome != nil {
			text, _ := os.ReadFile(saw)
			return r.Outcome, string(text)
		}
	}
	return nil, ""
}

// An agent without commands starts no rank with variables that would make a library write, read, run or load
// something.
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

		"a binding with a strange NIC": {nil, LaunchTask{Bindings: []results.Binding{{NICs: []string{"../x"}}}},
			"which this node does not have"},
	} {
		o, saw := launched(t, Options{RefuseCommands: true, Shell: c.shell}, c.task)
		if o.Failure == nil || o.Failure.Node != "n1" || !strings.Contains(o.Failure.Cause, c.want) || saw != "" {
			t.Errorf("%s: %+v, and the rank saw %q", name, o.Failure, saw)
		}
	}
}

// An agent without commands starts no rank of a runner that runs a scenario's programs; other agents pass the
// scratch directories to such ranks only.
func TestProgramsOfAScenarioAreCommands(t *testing.T) {
	const runner = "programs of a test"
	engine.Register(runner, programs{})
	o, saw := launchedBy(t, Options{RefuseCommands: true}, runner, LaunchTask{})
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

// revealing is a runner with ranks that send values of their environment to an endpoint of the scenario; the
// specification of a case lists the variables.
type revealing struct{ engine.Runner }

func (revealing) Reveals(c engine.Case) (names []string, err error) {
	return names, json.Unmarshal(c.Spec, &names)
}

// specification is the specification of a case that reveals a variable.
func specification(t *testing.T, variable string) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(strings.Fields(variable))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// An agent without commands starts no rank that would send variables of its node to an endpoint of the scenario;
// the scenario's own variables may be sent.
func TestNothingOfANodeIsRevealed(t *testing.T) {
	const runner = "reveals, of a test"
	engine.Register(runner, revealing{})
	t.Setenv("OWNERS", "the owner's key")
	t.Setenv("UCX_TLS", "the node's own")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("for endpoints"), 0o600); err != nil {
		t.Fatal(err)
	}
	given := map[string]string{"UCX_TLS": "tcp"}
	secret := func(reference string) LaunchTask {
		return LaunchTask{Secrets: map[string]string{"UCX_TLS": reference}}
	}
	for name, c := range map[string]struct {
		variable, allowed, shell string
		task                     LaunchTask
		want                     string // "": the rank is started
	}{
		"the node's own":                {"OWNERS", "", "", LaunchTask{}, "--allow-env OWNERS"},
		"a tuning variable of the node": {"UCX_TLS", "", "", LaunchTask{}, "--allow-env UCX_TLS"},
		"a secret":                      {"UCX_TLS", "", "", secret("OWNERS"), "--allow-env OWNERS"},

		"a secret in what the owner permits": {"UCX_TLS", "UCX_TLS", "", secret("OWNERS"), "--allow-env OWNERS"},
		"a secret in what the shell sets":    {"UCX_TLS", "", "rc", secret("OWNERS"), "--allow-env OWNERS"},
		"a secret that the scenario sets as well": {"UCX_TLS", "", "",
			LaunchTask{Env: given, Secrets: map[string]string{"UCX_TLS": "OWNERS"}}, "--allow-env OWNERS"},

		"the scenario's own":                 {"UCX_TLS", "", "", LaunchTask{Env: given}, ""},
		"the shell's":                        {"UCX_TLS", "", "rc", LaunchTask{}, ""},
		"what the owner permits":             {"OWNERS", "OWNERS", "", LaunchTask{}, ""},
		"a secret that the owner permits":    {"UCX_TLS", "UCX_TLS OWNERS", "", secret("OWNERS"), ""},
		"a file below the directory of them": {"UCX_TLS", "UCX_TLS", "", secret("file:key"), ""},
	} {
		o := Options{RefuseCommands: true, AllowEnv: strings.Fields(c.allowed), SecretsDir: dir}
		if c.shell != "" {
			o.Shell = map[string]string{"UCX_TLS": c.shell}
		}
		outcome, saw := launchedOf(t, o, runner, c.variable, c.task)
		if (saw != "") != (c.want == "") || c.want != "" && !strings.Contains(outcome.Failure.Cause, c.want) {
			t.Errorf("%s: %+v, and the rank saw %q", name, outcome.Failure, saw)
		}
	}
	if _, saw := launchedOf(t, Options{}, runner, "OWNERS", LaunchTask{}); saw == "" {
		t.Error("an agent with commands starts no rank")
	}
	a := New(Options{RefuseCommands: true, AllowEnv: []string{"UCX_TLS"}})
	got := a.secretProblems(SecretsTask{Revealed: []string{"OWNERS", "UCX_TLS", "file:key"}})
	want := "the scenario sends the value of OWNERS to its endpoint: this agent gives the value of OWNERS of its node to nobody; the node's owner can start its agent with --allow-env OWNERS"
	if len(got) != 1 || got[0] != want {
		t.Errorf("%q", got)
	}
}

// An agent without commands opens no port to etcd, which would need no password.
func TestAnAgentWithoutCommandsLendsNoEtcd(t *testing.T) {
	o, saw := launched(t, Options{RefuseCommands: true}, LaunchTask{Etcd: true})
	if o.Failure == nil || !strings.Contains(o.Failure.Cause, "--allow-commands") || saw != "" {
		t.Errorf("%+v, and the rank saw %q", o.Failure, saw)
	}
}

// Variables in a binding are ignored, and weir's own values cannot be replaced.
func TestARankHasWeirsOwnVariables(t *testing.T) {
	task := LaunchTask{
		Env: map[string]string{
			"UCX_TLS": "tcp", "UCX_HANDLE_ERRORS": "debug", "UCX_POSIX_DIR": "/tmp", "UCX_MEM_EVENTS=y;": "x",
		},
		Bindings: []results.Binding{{CPUs: "0", Env: map[string]string{"LD_PRELOAD": "/tmp/pre.so", "UCX_TLS": "rc"}}},
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
	var reported []string
	for _, v := range o.Variables {
		if _, ours := os.LookupEnv(v.Name); !ours { // of the shell that runs the test
			reported = append(reported, v.Name+"="+v.String())
		}
	}
	if got := strings.Join(reported, " "); got != "FI_PROVIDER=tcp (shell) UCX_TLS=tcp (scenario)" {
		t.Errorf("recorded are %s", got)
	}
}

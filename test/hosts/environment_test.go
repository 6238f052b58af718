package hosts

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/testserver"
)

// ucxOnOneNode has UCX take shared memory of both kinds, unless it is told otherwise.
const ucxOnOneNode = `scenario: ucx
runs:
  a:
    workload: transfer
    options: {fabric: ucx, block_size: 64KiB, iterations: 100}
    launches: 2
    env: {UCX_RNDV_THRESH: 8k}
`

// A variable of the shell has the same effect and the same record here, on another host
// that ssh leads to and on a registered agent, which runs no commands.
func TestTheShellReachesEveryHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.agent("a")
	l := lab.New(t, "h1")
	config := sshConfig(t, l.SSH())
	records := map[string]*results.Document{}
	for name, flags := range map[string][]string{
		"here": nil, "ssh": {"--hosts", "h1", "--launcher-config", config},
		"registered": {"--etcd", w.etcd, "--cluster", w.path("ca"), "--wait", "20s"},
	} {
		out := t.TempDir() + "/out"
		cmd := w.command(append([]string{"run", write(t, "scenario.yaml", ucxOnOneNode), "--out", out}, flags...)...)
		cmd.Env = append(cmd.Env, "UCX_TLS=posix", "LD_BIND_NOW=1")
		start(t, cmd).ends(0)
		records[name] = document(t, out)
	}
	want := []results.Variable{
		{Name: "UCX_RNDV_THRESH", Value: "8k", From: results.FromScenario}, {
			Name: "UCX_TLS", Value: "posix", From: results.FromShell,
		},
	}
	for name, doc := range records {
		if diff := cmp.Diff(map[string]string{"UCX_TLS": "posix"}, doc.Environment.Variables); diff != "" {
			t.Errorf("%s: the environment: %s", name, diff)
		}
		all := want
		if name == "here" { // the shell is the environment of the node
			all = append([]results.Variable{{Name: "LD_BIND_NOW", Value: "1", From: results.FromNode}}, want...)
		}
		for _, launch := range doc.Cases[0].Launches {
			if diff := cmp.Diff(all, launch.Variables); diff != "" {
				t.Errorf("%s: launch %d: %s", name, launch.Index, diff)
			}
			if !strings.Contains(launch.Transport, "posix/") || strings.Contains(launch.Transport, "sysv/") {
				t.Errorf("%s: UCX went over %s", name, launch.Transport)
			}
		}
	}
	w.clean()

	// An agent that ssh starts for the session takes any variable, with commands or without.
	out := t.TempDir() + "/out"
	cmd := w.command("run", write(t, "scenario.yaml", ucxOnOneNode), "--hosts", "h1", "--launcher-config", config,
		"--out", out)
	cmd.Env = append(cmd.Env, "MKL_ON_NO_LIST=/a/value")
	start(t, cmd).ends(0)
	if got := document(t, out).Environment.Variables["MKL_ON_NO_LIST"]; got != "/a/value" {
		t.Errorf("over ssh MKL_ON_NO_LIST is %q", got)
	}
}

// What a scenario or a shell asks of an agent without commands that would have a library
// write or read a file, or run a program, is refused by name before anything is launched.
func TestVariablesOnAnAgentWithoutCommands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	victim, secret := w.path("authorized_keys"), w.path("secret")
	for file, text := range map[string]string{victim: "a key", secret: "posix"} {
		if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(w.path("secrets"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.path("secrets/tls"), []byte("posix,self\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, w.path("secrets/link")); err != nil {
		t.Fatal(err)
	}
	w.agent("a", "--allow-env", "UCX_STATS_FILTER", "--secrets", w.path("secrets"))
	for _, c := range []struct{ name, env, shell, want string }{
		{"a log in a file", "{UCX_LOG_FILE: " + victim + ", UCX_LOG_LEVEL: info, UCX_LOG_FILE_FILTER: '*parser.c'}", "",
			"the scenario sets UCX_LOG_FILE: UCX_LOG_FILE is none of the variables that this agent takes; the node's owner can start its agent with --allow-env UCX_LOG_FILE (on node a)"},
		{"a secret for a log", "{UCX_LOG_LEVEL: info, UCX_GDB_COMMAND: '${secret(\"file:" + secret + "\")}'}", "",
			"only below the directory of its --secrets (on node a)"},
		{"a link to a secret", "{UCX_TLS: '${secret(\"file:link\")}'}", "", "escapes"},
		{"a command at once", "{UCX_HANDLE_ERRORS: debug, UCX_ERROR_SIGNALS: SIGURG, UCX_GDB_COMMAND: 'touch " +
			victim + "'}", "", "UCX_HANDLE_ERRORS is none of the variables"},
		{"a path in a permitted variable", "{UCX_TLS: '`id>" + victim + "`'}", "",
			"UCX_TLS has a value with a slash, a backquote"},
		{"a library", "{LD_PRELOAD: /tmp/pre.so}", "", "the scenario sets LD_PRELOAD"},
		{"a shell", "{}", "UCX_MEM_LOG_LEVEL=info", "the shell of weir run sets UCX_MEM_LOG_LEVEL: UCX_MEM_LOG_LEVEL is none of the variables that this agent takes; unset it there, or the node's owner can start its agent with --allow-env UCX_MEM_LOG_LEVEL (on node a)"},
	} {
		out := t.TempDir() + "/out"
		scenario := strings.Replace(ucxOnOneNode, "{UCX_RNDV_THRESH: 8k}", c.env, 1)
		cmd := w.command("run", write(t, "scenario.yaml", scenario), "--etcd", w.etcd, "--cluster", w.path("ca"),
			"--out", out, "--wait", "20s")
		if c.shell != "" {
			cmd.Env = append(cmd.Env, c.shell)
		}
		p := start(t, cmd)
		p.ends(6)
		if !strings.Contains(p.said(), c.want) {
			t.Errorf("%s: it says\n%s", c.name, p.said())
		}
		for _, made := range document(t, out).Cases[0].Launches {
			t.Errorf("%s: launch %d was made", c.name, made.Index)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "a key\n" {
		t.Errorf("the file of the node's owner has %q, %v", text, err)
	}
	if found, _ := filepath.Glob(w.path("*.txt")); len(found) > 0 {
		t.Errorf("there are %v", found)
	}
	scenario := strings.Replace(ucxOnOneNode, "{UCX_RNDV_THRESH: 8k}",
		"{UCX_STATS_FILTER: a/b, UCX_TLS: '${secret(\"file:tls\")}'}", 1)
	p, out := w.run(scenario)
	p.ends(0)
	if got, want := fmt.Sprint(document(t, out).Cases[0].Launches[0].Variables),
		"[a/b (scenario) *** (secret)]"; got != want {
		t.Errorf("what the owner permits is recorded as %s, want %s", got, want)
	}
	if found, err := exec.Command("grep", "-r", "posix,self", out).Output(); err == nil {
		t.Errorf("the secret is in %s", found)
	}
	w.clean()
}

// A scenario that would have an agent without commands send a value of its node's environment, or a
// secret, to the scenario's endpoint is refused by name before anything is launched.
func TestValuesOfANodeAreSentToNoEndpoint(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	var came []string
	endpoint := testserver.Unstarted(func(a *testserver.Answer) { a.Steady(1, 0, 0) })
	answer := endpoint.Config.Handler
	endpoint.Config.Handler = http.HandlerFunc(func(to http.ResponseWriter, r *http.Request) {
		mu.Lock()
		came = append(came, r.Header.Get("Authorization"))
		mu.Unlock()
		answer.ServeHTTP(to, r)
	})
	endpoint.Start()
	t.Cleanup(endpoint.Close)
	cmd := w.command(append(w.agentOf("a"), "--allow-env", "API_KEY")...)
	cmd.Env = append(cmd.Env, "API_KEY=for-endpoints", "OWNERS=of-the-owner")
	start(t, cmd).hears("waits for sessions")
	scenario := func(env, variable string) string {
		return `scenario: load
runs:
  a:
    workload: serving
    launches: 1
    env: ` + env + `
    options:
      url: ` + endpoint.URL + `
      model: m
      api: completions
      requests: 2
      headers: {Authorization: "Bearer ${client.env.` + variable + `}"}
`
	}
	for name, c := range map[string]struct{ env, variable, want string }{
		"a variable of the node": {"{}", "OWNERS", "with --allow-env OWNERS (on node a)"},
		"a secret": {"{UCX_TLS: '${secret(\"OWNERS\")}'}", "UCX_TLS",
			"with --allow-env OWNERS (on node a)"},
		"a secret in what the owner permits": {"{API_KEY: '${secret(\"OWNERS\")}'}", "API_KEY",
			"with --allow-env OWNERS (on node a)"},
	} {
		p, out := w.run(scenario(c.env, c.variable))
		p.ends(6)
		if !strings.Contains(p.said(), c.want) || len(document(t, out).Cases[0].Launches) > 0 {
			t.Errorf("%s: it says\n%s", name, p.said())
		}
	}
	if len(came) > 0 {
		t.Errorf("the endpoint was sent %q", came)
	}
	p, _ := w.run(scenario("{}", "API_KEY"))
	p.ends(0)
	if len(came) == 0 || slices.ContainsFunc(came, func(h string) bool { return h != "Bearer for-endpoints" }) {
		t.Errorf("with what the owner permits the endpoint was sent %q", came)
	}
	w.clean()
}

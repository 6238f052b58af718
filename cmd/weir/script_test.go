package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/cmd/weir/launcher"
	"github.com/weir-bench/weir/cmd/weir/run"
	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// TestMain makes this test binary the weir that the scripts run, so that every
// rank, probe and session is a process as it is for users.
func TestMain(m *testing.M) {
	if _, said := os.LookupEnv(launcher.SiteVariable); !said { // the user may have a site file
		os.Setenv(launcher.SiteVariable, launcher.NoSite)
	}
	if _, said := os.LookupEnv(run.DisturbedVariable); !said { // and the machine may never be quiet
		os.Setenv(run.DisturbedVariable, run.KeepDisturbed)
	}
	testscript.Main(m, map[string]func(){
		"weir": main,
		"weir-with-a-bug": func() {
			os.Exit(recovered(os.Stderr, func() int { panic("deliberate") }))
		},
		"etcd-put":        etcdPut,
		"openai-endpoint": openAIEndpoint,
		"echo-endpoint":   echoEndpoint,
	})
}

// scriptsWithSessions are copies of those scripts that measure while something else goes
// on: their first line is withSessions. Of others the race detector sees nothing new.
func scriptsWithSessions(t *testing.T, dir string) string {
	t.Helper()
	const withSessions = "# race: "
	to, n := t.TempDir(), 0
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(text), withSessions) {
			n++
			if err := os.WriteFile(filepath.Join(to, filepath.Base(path)), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n < 10 {
		t.Fatalf("only %d scripts begin with %q", n, withSessions)
	}
	return to
}

func TestScripts(t *testing.T) {
	phase.Long(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := "testdata/script"
	if phase.Race {
		dir = scriptsWithSessions(t, dir)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			e.Setenv("RELEASES", filepath.Join(root, "cmd/weir/testdata/releases"))
			e.Setenv("TOOLOUTPUT", filepath.Join(root, "interop", "output", "testdata"))
			e.Setenv("ROUNDED_RANK", filepath.Join(root, "cmd/weir/testdata/rounded_rank"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"etcd":        startEtcd,
			"exits":       exits,
			"launches":    launches,
			"measured":    measuredCases,
			"orphan":      orphanSession,
			"same":        sameMeasurements,
			"signal":      signalled,
			"nowhere":     nowhere,
			"hidden":      hidden,
			"replace":     replaceText,
			"reseal":      reseal,
			"fingerprint": fingerprint,
			"statuses":    statuses,
			"unread":      unread,
		},
		Condition: func(name string) (bool, error) {
			if name == "engine" {
				return engineLinked, nil
			}
			if name == "hooks" {
				return hooksBuilt, nil
			}
			if name == "cgroup" {
				g, err := cgroup.Make(cgroup.Limits{})
				if err != nil {
					return false, nil
				}
				return true, g.Remove()
			}
			if name == "numa" { // a container may forbid it, and a kernel know no nodes
				_, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, 0, 0, 0, 0, 0, 0)
				_, err := os.Stat("/sys/devices/system/node/node0")
				return errno == 0 && err == nil, nil
			}
			if fabric, ok := strings.CutPrefix(name, "fabric:"); ok {
				return fabricHere(fabric)
			}
			return false, errors.New("unknown condition")
		},
	})
}

// fabricHere says whether a fabric can be used on this host, as weir itself finds.
func fabricHere(name string) (bool, error) {
	out, err := exec.Command("weir", "probe", "--json", name).Output()
	if err != nil {
		return false, fmt.Errorf("probing %s: %w", name, err)
	}
	var node results.Node
	if err := json.Unmarshal(out, &node); err != nil {
		return false, fmt.Errorf("reading the probe of %s: %w", name, err)
	}
	return node.Fabrics[name].Available, nil
}

// unread runs a command with a closed stream and checks its exit code. Its command line is:
// unread stdout|stderr CODE COMMAND ARG….
func unread(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: unread stdout|stderr CODE COMMAND ARG…")
	}
	reader, writer, err := os.Pipe()
	ts.Check(err)
	ts.Check(reader.Close())
	defer writer.Close()
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = scriptEnvironment(ts)
	var other strings.Builder
	cmd.Stdout, cmd.Stderr = writer, &other
	if args[0] == "stderr" {
		cmd.Stdout, cmd.Stderr = &other, writer
	}
	_ = cmd.Run() // the exit code says it
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("exited with %s, want %s\n%s", cmd.ProcessState, args[1], other.String())
	}
}

// exits runs a command and checks its exit code. Its command line is: exits CODE[|CODE…] COMMAND ARG….
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE[|CODE…] COMMAND ARG…")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var failed *exec.ExitError
		if !errors.As(err, &failed) {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		code = failed.ExitCode()
	}
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(code)) {
		ts.Fatalf("%s exited with %d, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

// measuredCases checks that a session has N cases with verified launches and none with an error:
// measured DIR N.
func measuredCases(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: measured DIR N [METRIC]")
	}
	metric := "bandwidth"
	if len(args) == 3 {
		metric = args[2]
	}
	doc, err := results.Read(ts.MkAbs(args[0]))
	ts.Check(err)
	n := 0
	for _, c := range doc.Cases {
		if c.Status == results.Error {
			ts.Fatalf("%s: %s", c.Key, c.Reason)
		}
		if slices.ContainsFunc(c.Launches, func(l *results.Launch) bool {
			return l.Status == results.OK && l.Verified && l.Metrics.At(metric) > 0
		}) {
			n++
		}
	}
	if strconv.Itoa(n) != args[1] {
		ts.Fatalf("%d cases were measured, want %s", n, args[1])
	}
}

var signalNumbers = map[string]unix.Signal{
	"INT": unix.SIGINT, "KILL": unix.SIGKILL, "TERM": unix.SIGTERM, "HUP": unix.SIGHUP, "STOP": unix.SIGSTOP,
}

// scriptEnvironment is what a script's commands have. The tuning variables of the shell that
// runs the tests are none of it: a session would record them.
func scriptEnvironment(ts *testscript.TestScript) []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "EXAMPLES", "TOOLOUTPUT", "WEIR_CGROUP", "GOCOVERDIR"} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// signalled starts a command that writes events to the file events, signals it, or
// one of its ranks, once a case runs or once a file is there, and holds it to an exit
// code, -1 if the signal ends it: signal NAME[:rank|:first][@FILE] CODE COMMAND ARG…
// :rank is the rank that was started last, :first the one that was started first.
func signalled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: signal NAME[:rank|:first][@FILE] CODE COMMAND ARG…")
	}
	name, file, _ := strings.Cut(args[0], "@")
	name, toLast := strings.CutSuffix(name, ":rank")
	name, toFirst := strings.CutSuffix(name, ":first")
	ready := func() bool {
		b, err := os.ReadFile(ts.MkAbs("events"))
		return err == nil && bytes.Contains(b, []byte(`"case_progress"`))
	}
	if file != "" {
		ready = func() bool { _, err := os.Stat(ts.MkAbs(file)); return err == nil }
	}
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Dir = ts.MkAbs(".")
	cmd.Env = scriptEnvironment(ts)
	out, err := os.Create(ts.MkAbs("output"))
	ts.Check(err)
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	ts.Check(cmd.Start())
	defer cmd.Process.Kill() // whatever fails here, a scenario without end must not go on
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	deadline := time.After(120 * time.Second)
	for !ready() {
		select {
		case err := <-ended:
			ts.Fatalf("ended before it could be signalled: %v\n%s", err, ts.ReadFile("output"))
		case <-deadline:
			ts.Fatalf("could not be signalled within 120 s:\n%s", ts.ReadFile("output"))
		case <-time.After(20 * time.Millisecond):
		}
	}
	pid := cmd.Process.Pid
	if toLast || toFirst {
		ranks, err := ranksOf(pid)
		ts.Check(err)
		pid = slices.Max(ranks)
		if toFirst {
			pid = slices.Min(ranks)
		}
	}
	ts.Check(unix.Kill(pid, signalNumbers[name]))
	select {
	case <-ended:
	case <-time.After(60 * time.Second):
		ts.Fatalf("did not end within 60 s:\n%s", ts.ReadFile("output"))
	}
	if got := strconv.Itoa(cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("exited with %s, want %s\n%s", got, args[1], ts.ReadFile("output"))
	}
}

// ranksOf are the rank processes of a running weir, of which there is one at least.
func ranksOf(weir int) (pids []int, err error) {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", weir)) // each thread has its own
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		children, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for _, child := range strings.Fields(string(children)) {
			pid, err := strconv.Atoi(child)
			if err != nil {
				return nil, err
			}
			argv, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			if err == nil && bytes.Contains(argv, []byte("\x00rank\x00")) {
				pids = append(pids, pid)
			}
		}
	}
	if len(pids) == 0 {
		return nil, fmt.Errorf("process %d has no rank", weir)
	}
	return pids, nil
}

// reseal makes an edited document one that another session could have written:
// reseal DOCUMENT.
func reseal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: reseal DOCUMENT")
	}
	path := ts.MkAbs(args[0])
	doc, err := results.Read(path)
	ts.Check(err)
	ts.Check(doc.Write(path))
}

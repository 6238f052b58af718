package faults

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
)

// TestChecksOfDocumentsCanFail: each promise about a document is broken once.
func TestChecksOfDocumentsCanFail(t *testing.T) {
	at := time.Now()
	launch := func(f *results.Failure) *results.Launch {
		l := &results.Launch{Index: 1, Started: at, Status: results.OK, Failure: f}
		if f != nil {
			l.Status = results.Error
		}
		return l
	}
	doc := func(l *results.Launch) *results.Document {
		return &results.Document{
			Session: results.Session{Status: results.Passed}, Cases: []*results.Case{
				{Key: "k", Status: results.OK, Launches: []*results.Launch{l}},
			},
		}
	}
	whole := doc(launch(nil))
	finished := map[string]time.Time{"k/1": at}
	if keys := lost(finished, whole); len(keys) > 0 {
		t.Errorf("lost %q of a document that has all", keys)
	}
	for name, d := range map[string]*results.Document{
		"gone": {}, "failed": doc(launch(&results.Failure{})),
		"another": doc(&results.Launch{Index: 1, Started: at.Add(1), Status: results.OK}),
	} {
		if len(lost(finished, d)) != 1 {
			t.Errorf("%s: no launch is lost", name)
		}
	}
	good := &results.Failure{Kind: results.Crashed, Node: "a", Rank: 0, Cause: "killed by signal 9"}
	for _, d := range []*results.Document{whole, doc(launch(good))} {
		if what := unnamed(d); len(what) > 0 {
			t.Errorf("unnamed: %q", what)
		}
	}
	for name, f := range map[string]results.Failure{
		"no cause": {Kind: results.Crashed, Node: "a"}, "no kind": {Node: "a", Cause: "x"},
		"nobody": {Kind: results.Crashed, Rank: -1, Cause: "x"},
	} {
		if len(unnamed(doc(launch(&f)))) == 0 {
			t.Errorf("%s passes", name)
		}
	}
	silent := doc(launch(nil))
	silent.Session = results.Session{Status: results.Errored, ExitCode: 6}
	if len(unnamed(silent)) != 1 {
		t.Error("a session that fails without a word passes")
	}
	silent.Session.Reason = "etcd is gone"
	if what := unnamed(silent); len(what) > 0 {
		t.Errorf("unnamed: %q", what)
	}
	other := &results.Failure{Kind: results.TimedOut, Node: "b", Rank: -1, Cause: "it took too long"}
	for _, target := range []string{"rank", "agent", "link", "host", "etcd", "coordinator"} {
		if i := (injection{target: target, node: &node{name: "a"}}); i.misled(doc(launch(other))) == "" ||
			i.misled(whole) != "" {
			t.Errorf("%s: a cause that is another's passes, or none does not", target)
		}
	}
	if i := (injection{target: "agent", node: &node{name: "a"}}); i.misled(doc(launch(good))) != "" {
		t.Error("the right cause does not pass")
	}
}

// TestLeftoversAreFound: each kind is left once.
func TestLeftoversAreFound(t *testing.T) {
	w := small(t)
	n := w.nodes[0]
	found := func(what string) {
		t.Helper()
		if all := strings.Join(w.leftovers(), "\n"); !strings.Contains(all, what) {
			t.Errorf("%s is not found among %q", what, all)
		}
	}
	write := func(path string) {
		t.Helper()
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		found(path)
		os.Remove(path)
	}
	write(filepath.Join(n.tmp, "x"))
	write(filepath.Join(w.path("tmp"), "x"))
	left := filepath.Join("/dev/shm", "weir-left"+filepath.Base(w.dir))
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(left)
	if err := os.WriteFile(filepath.Join(left, ".weir-scratch"), []byte("temporary files in "+w.path("tmp")),
		0o600); err != nil {
		t.Fatal(err)
	}
	found(left)
	os.RemoveAll(left)
	if w.lab != nil {
		n.host.Run("touch", "/dev/shm/x")
		found("/dev/shm/x")
		n.host.Run("rm", "/dev/shm/x")
		n.host.Daemon("listener", "python3", "-c",
			"import socket,time; s=socket.socket(); s.bind(('',0)); s.listen(); time.sleep(60)")
		if !eventually(5*time.Second, func() bool { return len(w.leftovers()) > 0 }) {
			t.Error("a socket is not found")
		}
		found("listening")
	}
	stray := exec.Command(w.weir, "agent", "--etcd", w.etcdURL, "--node", "stray", "--state", w.path("stray"),
		"--cluster", w.path("cluster"))
	stray.Env = append(os.Environ(), "TMPDIR="+w.path("tmp"))
	if err := stray.Start(); err != nil {
		t.Fatal(err)
	}
	if !eventually(settle, func() bool { what, _ := w.idle(); return strings.Contains(what, "agents/stray") }) {
		t.Error("a key in etcd is not found")
	}
	found("--node stray")
	end(stray)
	if what, idle := w.idle(); idle {
		t.Errorf("the lease of a killed process is not found: %s", what)
	}
}

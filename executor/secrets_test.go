package executor

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weir/executor/cluster"
	"weir/executor/ledger"
	"weir/planner"
	"weir/results"
)

const secretValue = "s3cr3t-Wert-42"

// holding are the files of a directory that hold a text.
func holding(t *testing.T, dir, text string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(append(b, unpacked(b)...), []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func secret(name, reference string) func(*planner.Case) {
	return func(c *planner.Case) { c.Secrets = map[string]string{name: reference} }
}

// TestSecretsReachProcessesAndNothingElse: ranks and commands print them in every
// way that is kept, and fail with them.
func TestSecretsReachProcessesAndNothingElse(t *testing.T) {
	b := newBench(t)
	t.Setenv("WEIR_TEST_TOKEN", secretValue)
	file := filepath.Join(b.dir, "token")
	if err := os.WriteFile(file, []byte("from-a-file-"+secretValue+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	told := aCase("told", env(sayEnv, "TOKEN"), env(faultEnv, "tell run 1"), secret("TOKEN", "WEIR_TEST_TOKEN"))
	fromFile := aCase("file", env(sayEnv, "TOKEN"), secret("TOKEN", "file:"+file))
	inherits := aCase("inherits", env(sayEnv, "WEIR_TEST_TOKEN"))
	cases := []*planner.Case{told, fromFile, inherits}
	var groups []*planner.LaunchGroup
	for _, c := range cases {
		groups = append(groups, aGroup(c.Key, []*planner.Case{c}))
	}
	p := aPlan(cases, groups...)
	p.Checks = []planner.Check{{Name: "fine", Command: []string{"true"}}}
	up := shell("up", `test "$T" = "$WEIR_TEST_TOKEN" && echo "it is $T" && printf %s "$T" | dd bs=5 2>/dev/null; echo`)
	up.Secrets = map[string]string{"T": "WEIR_TEST_TOKEN"}
	down := shell("down", "echo failing with $T >&2; exit 1")
	down.Secrets = up.Secrets
	p.Setup, p.Teardown = []planner.Command{up}, []planner.Command{down}

	dir := etcdDir(t)
	server, err := cluster.StartServer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	doc := b.run(p, func(o *Options) { o.Etcd = server.Config() })
	server.Close()
	if found := holding(t, dir, "WEIR_TEST_TOKEN"); found == nil {
		t.Error("the tasks are not found in etcd, so neither would be the value")
	}
	if found := holding(t, dir, secretValue); found != nil {
		t.Errorf("the value was in etcd: %v", found)
	}
	if found := holding(t, filepath.Join(b.dir, "session"), secretValue); found != nil {
		t.Errorf("the value is in %v", found)
	}
	encoded, err := doc.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(encoded, []byte(secretValue)) {
		t.Error("the value is in the document")
	}
	for _, e := range b.events {
		if e.Failure != nil && strings.Contains(e.Failure.Cause+strings.Join(e.Failure.Log, ""), secretValue) ||
			strings.Contains(e.Reason, secretValue) {
			t.Errorf("the value is in event %+v", e)
		}
	}
	f := failure(t, doc, "told")
	if f.Rank != 1 || !strings.Contains(f.Cause, "refused with ***") ||
		!strings.Contains(strings.Join(f.Log, "\n"), "TOKEN is ***") {
		t.Errorf("failure %+v", f)
	}
	for _, key := range []string{"file", "inherits"} {
		log, err := os.ReadFile(filepath.Join(b.dir, "session", "logs", key, "0", "0.log"))
		if err != nil || !strings.Contains(string(log), "TOKEN is ***\n") {
			t.Errorf("log of %s: %q, %v", key, log, err)
		}
	}
	if got := strings.Join(doc.Commands[0].Log, "|"); doc.Commands[0].Status != results.OK || got != "it is ***|***" {
		t.Errorf("setup: %+v", doc.Commands[0])
	}
	if !strings.Contains(strings.Join(doc.Commands[1].Log, ""), "failing with ***") {
		t.Errorf("teardown: %+v", doc.Commands[1])
	}
}

func etcdDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "se") // short enough for a socket, and no part of what a session leaves
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// unpacked is all that stands compressed somewhere in a file, as tasks do in
// etcd's.
func unpacked(file []byte) []byte {
	var all []byte
	for from := 0; ; {
		i := bytes.Index(file[from:], []byte{0x1f, 0x8b, 0x08})
		if i < 0 {
			return all
		}
		from += i
		if z, err := gzip.NewReader(bytes.NewReader(file[from:])); err == nil {
			z.Multistream(false)
			text, _ := io.ReadAll(z) // it may look like a beginning and be none
			all = append(all, text...)
		}
		from++
	}
}

// TestSecretsAreMissedBeforeAnythingIsLaunched, by name.
func TestSecretsAreMissedBeforeAnythingIsLaunched(t *testing.T) {
	t.Setenv("WEIR_TEST_SHORT", "abc")
	b := newBench(t)
	cases := []*planner.Case{
		aCase("a", secret("A", "WEIR_TEST_ABSENT")), aCase("b", secret("A", "WEIR_TEST_SHORT")),
		aCase("c", secret("A", "file:/nonexistent/token")),
	}
	p := aPlan(cases, aGroup("a", cases[:1]), aGroup("b", cases[1:2]), aGroup("c", cases[2:]))
	p.Setup = []planner.Command{b.noting("up")}
	doc := b.run(p)
	if b.launches() != "" || b.noted() != "" || doc.Session.ExitCode != ledger.ExitError {
		t.Errorf("launched %q, ran %q, session %+v", b.launches(), b.noted(), doc.Session)
	}
	for _, want := range []string{
		"secret WEIR_TEST_ABSENT: this environment variable is not set",
		"secret WEIR_TEST_SHORT: its value is too short to redact",
		"secret file:/nonexistent/token: open /nonexistent/token: no such file or directory",
	} {
		if !strings.Contains(doc.Session.Reason, want) {
			t.Errorf("the session's reason lacks %q: %s", want, doc.Session.Reason)
		}
	}
	if strings.Contains(doc.Session.Reason, "abc") {
		t.Error("the value is told")
	}
}

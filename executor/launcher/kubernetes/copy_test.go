package kubernetes

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/launcher"
)

// shell runs a script of a pod here, with the directory of weir in another place.
func shell(t *testing.T, dir, script string, in []byte, env ...string) string {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", strings.ReplaceAll(script, programDir, dir))
	cmd.Stdin, cmd.Env = bytes.NewReader(in), append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return answerIn(string(out))
}

// The scripts, without a cluster: what a pod answers when it has weir, has it not, has another,
// is given it whole, cut short, or as a file that does not start.
func TestCopyScripts(t *testing.T) {
	programs := t.TempDir()
	good := []byte("#!/bin/sh\necho weir 1.7\n")
	file := filepath.Join(programs, "weir")
	if err := os.WriteFile(file, good, 0o755); err != nil {
		t.Fatal(err)
	}
	b, err := launcher.ReadProgram(file)
	if err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + programs + ":" + os.Getenv("PATH")

	dir := t.TempDir()
	if got := shell(t, dir, ask(b), nil); !strings.HasPrefix(got, missing+" ") {
		t.Errorf("an empty pod says %q", got)
	}
	if got := shell(t, dir, receive(b), good); got != copied {
		t.Errorf("a copy: %q", got)
	}
	if got := shell(t, dir, ask(b), nil); got != present {
		t.Errorf("a pod with weir says %q", got)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "weir")); err != nil || !bytes.Equal(text, good) {
		t.Errorf("the copy is %q (%v)", text, err)
	}

	dir = t.TempDir()
	if got := shell(t, dir, ask(b), nil, path); got != present {
		t.Errorf("an image with this weir says %q", got)
	}
	other := launcher.Program{File: b.File, Size: b.Size, Sum: strings.Repeat("0", 64)}
	if got := shell(t, t.TempDir(), ask(other), nil, path); !strings.HasPrefix(got, missing) {
		t.Errorf("an image with another weir says %q", got)
	}

	dir = t.TempDir()
	bad := []byte("#!/no/such/interpreter\n")
	broken := launcher.Program{File: b.File, Size: int64(len(bad)), Sum: b.Sum}
	got := shell(t, dir, receive(broken), bad)
	if !strings.HasPrefix(got, unusable) || !strings.Contains(launcher.WhyUnusable(got), "C library") {
		t.Errorf("a file that does not start: %q", got)
	}
	cmd := exec.Command("/bin/sh", "-c", strings.ReplaceAll(receive(b), programDir, dir))
	cmd.Stdin = bytes.NewReader(good[:5])
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Errorf("a copy that was cut short: %s", out)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("failed copies leave %v", left)
	}
}

// A pod waits for its weir, becomes it with all arguments, and ends when nobody brings it.
func TestPodWaitsForWeir(t *testing.T) {
	dir := t.TempDir()
	l := launcherOf(t, options(func(o *Options) { o.Wait = time.Second }))
	var argv []string
	for _, a := range l.programOf() {
		argv = append(argv, strings.ReplaceAll(a, programDir, dir))
	}
	argv = append(argv, "agent", "two words")
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "weir was not copied into this pod") {
		t.Errorf("without weir: %v %s", err, out)
	}
	if err := os.WriteFile(filepath.Join(dir, "weir"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	out, err = exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil || string(out) != "agent\ntwo words\n" {
		t.Errorf("with weir: %v %q", err, out)
	}
}

func TestAnswers(t *testing.T) {
	for text, want := range map[string]string{
		"weir-copied\n":                         "weir-copied",
		"welcome to weir-land\nweir-present\n":  "weir-present",
		"weir-missing x86_64\n":                 "weir-missing x86_64",
		"sh: cannot\n":                          "sh: cannot",
		"":                                      "",
		"weir-unusable /run/weir-program: no\n": "weir-unusable /run/weir-program: no",
	} {
		if got := answerIn(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

package ssh

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-bench/weir/executor/launcher"
)

// crossBuilt is a program for another kind of machine than this.
func crossBuilt(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	other := "arm64"
	if out, err := exec.Command("uname", "-m").Output(); err == nil && strings.TrimSpace(string(out)) == "aarch64" {
		other = "amd64"
	}
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte("package main\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", filepath.Join(dir, "weir"), source)
	cmd.Env = append(os.Environ(), "GOARCH="+other, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	return filepath.Join(dir, "weir")
}

func TestACopyThatCannotRunIsExplained(t *testing.T) {
	f := newField(t, "a")
	script := func(name, text string) string { return f.Write(name, 0o755, "#!/bin/sh\n"+text+"\n") }
	for name, c := range map[string]struct{ binary, want string }{
		"another kind of machine": {crossBuilt(t), "its machine type is "},
		"an old C library": {script("old", "echo \"/lib/libc.so.6: version \\`GLIBC_2.99' not found\" >&2; exit 1"),
			"C library is older"},
		"no such C library": {f.Write("musl", 0o755, "#!/lib/ld-none.so.1\n"), "lacks the C library"},
		"a library is missing": {script("lib",
			"echo 'error while loading shared libraries: libx.so.1: cannot open shared object file' >&2; exit 127"),
			"lacks a library"},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.request()
			r.Binary = c.binary
			_, err := f.launcher.Start(t.Context(), r)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "a: ") ||
				!strings.Contains(err.Error(), "ssh.weir") {
				t.Errorf("%v: must say %q", err, c.want)
			}
			if left := f.Host("a").Run("find", "/root", "-name", "weir*", "-type", "f"); left != "" {
				t.Errorf("it left %s", left)
			}
		})
	}
}

func TestACopyIsWholeOrNotThere(t *testing.T) {
	f := newField(t, "a")
	r := f.request()
	p, err := f.launcher.copyOf(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"short": "#!/bin/sh\n", "another": strings.Repeat("#", int(p.Size))} {
		cmd := exec.Command("sh", "-c", "exec ssh -F "+f.ssh.Config+" a "+launcher.ShellCommand(p.receive("x")))
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err == nil || strings.Contains(string(out), copied) {
			t.Errorf("%s: %v %s", name, err, out)
		}
	}
	if left := f.Host("a").Run("find", "/root", "-name", "weir*", "-type", "f"); left != "" {
		t.Errorf("left are %s", left)
	}
	// what is old goes with the next copy, what was used lately stays
	f.Host("a").Run("sh", "-c", "mkdir -p ~/.cache/weir/old ~/.cache/weir/new && touch -d '40 days ago' ~/.cache/weir/old/weir && touch ~/.cache/weir/new/weir")
	h := f.start(t)
	if err := h.Stop(t.Context(), lots); err != nil {
		t.Error(err)
	}
	have := f.Host("a").Run("sh", "-c", "cd ~/.cache/weir && find . -name 'weir*' -type f")
	if strings.Contains(have, "old") || !strings.Contains(have, "new/weir") ||
		!strings.Contains(have, p.Sum+"/weir\n") || strings.Contains(have, "weir.") {
		t.Errorf("kept are\n%s", have)
	}
}

func TestAFullDiskIsNamed(t *testing.T) {
	f := newField(t, "a")
	f.Host("a").Run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "/root")
	if _, err := f.launcher.Start(t.Context(), f.request()); err == nil ||
		!strings.Contains(err.Error(), "a: copying weir: ssh says") || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("the error is %v", err)
	}
}

// What a login shell writes is not taken for an answer, nor for the agent.
func TestALoginShellMayTalk(t *testing.T) {
	f := newField(t, "a")
	f.Host("a").Run("sh", "-c", `printf 'echo Welcome; echo; printf "no line"; echo warn >&2\n' >~/.bashrc`)
	h := f.start(t)
	if g := f.agent(t, "a").greeting; g.Host != "a" {
		t.Errorf("%+v", g)
	}
	if err := h.Stop(t.Context(), lots); err != nil {
		t.Error(err)
	}
	f.Host("a").Run("sh", "-c", `echo 'yes hello' >~/.bashrc`)
	if _, err := f.launcher.Start(t.Context(), f.request()); err == nil ||
		!strings.Contains(err.Error(), "writes more than") {
		t.Errorf("a shell that does not stop: %v", err)
	}
}

func TestAWeirThatIsThereIsUsed(t *testing.T) {
	f := newField(t, "a")
	self := f.request().Binary
	for path, want := range map[string]string{self: "", "/opt/none/weir": "a: /opt/none/weir is not executable there"} {
		l := *f.launcher
		l.Remote = path
		h, err := l.Start(t.Context(), f.request())
		if want == "" && err == nil {
			err = h.Stop(t.Context(), lots)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if f.printed("copying") != 0 {
		t.Error("it was copied all the same")
	}
}

func TestScriptsAreForEveryShell(t *testing.T) {
	p := program{cache + "/0/weir", launcher.Program{Sum: strings.Repeat("0", 64), Size: 1}}
	for _, script := range []string{p.start(launcher.Request{Session: session}), p.receive("x"), reap(session)} {
		if out, err := exec.Command("sh", "-n", "-c", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", script, err, out)
		}
		inside := strings.TrimSuffix(strings.TrimPrefix(script, "exec /bin/sh -c '"), "'")
		if out, err := exec.Command("sh", "-n", "-c", inside).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", inside, err, out)
		}
	}
}

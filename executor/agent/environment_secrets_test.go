package agent

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestLinesOfASecretAreHidden, alone and together, but not common ones.
func TestLinesOfASecretAreHidden(t *testing.T) {
	t.Setenv("WEIR_TEST_SECRET", "first line\r\nsecond line\nabc\n")
	h := (&Agent{}).hidden([]string{"WEIR_TEST_SECRET"})
	for text, want := range map[string]string{
		"> second line <":                    "> *** <",
		"first line, abc":                    "***, abc",
		"[first line\r\nsecond line\nabc\n]": "[***]",
	} {
		if got := h.Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestSecretsAreRead(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"unix": "value\n", "dos": "value\r\n", "bare": "value", "lines": "one\ntwo\n\n", "short": "abc\n",
		"binary": "ab\x00cd", "long": strings.Repeat("x", maxSecret+1), "longest": strings.Repeat("x", maxSecret),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("unix", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WEIR_TEST_SECRET", "from the environment")
	for reference, want := range map[string]string{
		"WEIR_TEST_SECRET": "from the environment", "file:" + dir + "/unix": "value", "file:" + dir + "/dos": "value",
		"file:" + dir + "/bare": "value", "file:" + dir + "/lines": "one\ntwo\n",
		"file:" + dir + "/longest": strings.Repeat("x", maxSecret), "file:" + dir + "/link": "value",
	} {
		if got, err := (vault{anywhere: true}).resolve(reference); err != nil || got != want {
			t.Errorf("%s: %q, %v", reference, got, err)
		}
	}
	for reference, want := range map[string]string{
		"WEIR_TEST_NO_SECRET": "is not set", "file:" + dir + "/absent": "no such file",
		"file:" + dir + "/short": "too short to redact", "file:" + dir + "/binary": "zero byte",
		"file:" + dir + "/pipe": "no regular file", "file:/dev/zero": "no regular file",
		"file:" + dir: "no regular file", "file:" + dir + "/long": "longer than 65536 bytes",
	} {
		if _, err := (vault{anywhere: true}).resolve(reference); err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "secret "+reference) {
			t.Errorf("%s: %v", reference, err)
		}
	}
}

// An agent without commands reads secrets from files only in the directory of its owner.
func TestSecretsBelowADirectory(t *testing.T) {
	dir := t.TempDir()
	owned := filepath.Join(dir, "owned")
	for _, sub := range []string{"owned", "owned/sub"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range map[string]string{
		"outside": "of another", "owned/key": "of the owner", "owned/sub/key": "deeper",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"owned/out": "../outside", "owned/absolute": filepath.Join(dir, "outside"), "owned/up": "..",
		"owned/in": "sub/key",
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("WEIR_TEST_SECRET", "from the environment")
	v := vault{below: owned}
	for reference, want := range map[string]string{
		"WEIR_TEST_SECRET": "from the environment", "file:key": "of the owner",
		"file:" + owned + "/key": "of the owner", "file:" + owned + "/sub/key": "deeper", "file:in": "deeper",
	} {
		if got, err := v.resolve(reference); err != nil || got != want {
			t.Errorf("%s: %q, %v", reference, got, err)
		}
	}
	for reference, want := range map[string]string{
		"file:" + dir + "/outside":      "only below the directory",
		"file:" + owned + "/../outside": "only below the directory", "file:/etc/passwd": "only below the directory",
		"file:../outside": "escapes", "file:out": "escapes", "file:absolute": "escapes", "file:up/outside": "escapes",
		"file:" + owned + "/out": "escapes", "file:absent": "no such file",
	} {
		if got, err := v.resolve(reference); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v", reference, got, err)
		}
		if h := v.hidden([]string{reference}); len(h) > 0 {
			t.Errorf("%s is read to be redacted", reference)
		}
	}
	if _, err := (vault{}).resolve("file:" + owned + "/key"); err == nil ||
		!strings.Contains(err.Error(), "--secrets DIR") {
		t.Errorf("without a directory: %v", err)
	}
}

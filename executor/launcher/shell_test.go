package launcher

import (
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A shell reads what was written, whatever it was.
func TestShellCommandIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		argv := rapid.SliceOfN(rapid.String().Filter(func(s string) bool { return !strings.Contains(s, "\x00") }), 1,
			4).Draw(t, "argv")
		out, err := exec.Command("sh", "-c", `printf '%s\0' `+ShellCommand(argv...)).Output()
		if want := strings.Join(argv, "\x00") + "\x00"; err != nil || string(out) != want {
			t.Fatalf("%q is read as %q (%v)", argv, out, err)
		}
	})
	if got := ShellCommand("srun", "--x=a/b", "a b"); got != "srun --x=a/b 'a b'" {
		t.Error(got)
	}
}

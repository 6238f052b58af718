package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/terminal"
)

const watchedScenario = `scenario: watched
runs:
  waits:
    workload: command
    launches: 2
    sweep: {n: [1, 2, 3]}
    options:
      roles: {it: {command: [sh, -c, 'sleep 0.4; echo v=${axis.n}']}}
      parse: {of: it, lines: '^v=(?<v>\d+)$'}
    metrics: {v: {better: higher}}
    assert:
      - v >= 2
`

// asWeir is a command of this test binary as weir.
func asWeir(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "weir")
	if err := os.Link(self, path); err != nil { // another file system
		b, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	return cmd
}

var redrawn = regexp.MustCompile(`[█░]| · launch \d|^starting$|; asserted |^ +\d+ of \d+ cases`)

func redrawnLines(lines []string) (found []string) {
	for _, line := range lines {
		if redrawn.MatchString(line) {
			found = append(found, line)
		}
	}
	return found
}

// A real session on a terminal is seen from the beginning, has one frame at any time, and leaves the table and
// no rest of a frame.
func TestRunOnATerminal(t *testing.T) {
	lab.UnsetTuningVariables() // they are part of the command that repeats a case
	for name, noColor := range map[string]string{"colored": "", "plain": "1"} {
		t.Run(name, func(t *testing.T) { runOnATerminal(t, noColor) })
	}
}

func runOnATerminal(t *testing.T, noColor string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "watched.yaml"), []byte(watchedScenario), 0o644); err != nil {
		t.Fatal(err)
	}
	on := terminal.New(t, 80, 24)
	cmd := asWeir(t, dir, "run", "watched.yaml", "--out", "out")
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "NO_COLOR="+noColor)
	cmd.Stdout, cmd.Stderr = on.Out, on.Out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	begin, first, most := time.Now(), time.Duration(0), 0
	for done := false; !done; {
		select {
		case err := <-ended:
			done = true
			if cmd.ProcessState.ExitCode() != 1 {
				t.Errorf("weir ends with %v", err)
			}
		case <-time.After(20 * time.Millisecond):
			lines := on.All()
			if len(lines) > 0 && first == 0 {
				first = time.Since(begin)
			}
			most = max(most, len(redrawnLines(lines)))
		}
	}
	on.Close()
	took := time.Since(begin)
	t.Logf("the screen was blank for %v of %v", first.Round(time.Millisecond), took.Round(time.Millisecond))
	if first == 0 || first > time.Second && first > took/4 {
		t.Errorf("the screen was blank for %v of %v", first, took)
	}
	if most < 2 || most > 4 {
		t.Errorf("at most %d lines of a frame were on the screen at once", most)
	}
	lines := on.All()
	if left := redrawnLines(lines); len(left) > 0 {
		t.Errorf("lines of a frame are left: %q", left)
	}
	if long := on.Wrapped(); len(long) > 0 {
		t.Errorf("lines wrap: %q", long)
	}
	if last := lines[len(lines)-1]; last != "results in out; for a page: weir report out --report html" {
		t.Errorf("the last line is %q", last)
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{"✗ fail  waits n=1", "✓ pass  waits n=2", "✗ failed: assertions: 1 fail, 2 pass"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if colored := strings.Contains(on.Colored(), "\x1b[31m✗ failed\x1b[m"); colored != (noColor == "") {
		t.Errorf("with NO_COLOR=%q the outcome is %q", noColor, on.Colored())
	}
}

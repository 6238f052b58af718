package hosts

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/phase"
)

// binary is the program under test, built once for all tests.
var binary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(home, "weir")
	out, err := exec.Command("go", "build", "-o", path, "github.com/weir-bench/weir/cmd/weir").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building weir: %w\n%s", err, out)
	}
	return path, nil
})

var home string

func TestMain(m *testing.M) {
	lab.UnsetTuningVariables()
	os.Setenv("WEIR_DISTURBED", "keep") // the machine that runs tests is never quiet
	var err error
	if home, err = os.MkdirTemp("", "wh"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

func weir(t *testing.T) string {
	t.Helper()
	phase.Long(t)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// process is a program that runs until it ends or the test does.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}
	mu   sync.Mutex
	text bytes.Buffer
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *process) said() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p, p
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { _ = cmd.Wait(); close(p.done) }() // the exit code tells
	t.Cleanup(func() { p.signal(syscall.SIGKILL); <-p.done })
	return p
}

func (p *process) signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = p.cmd.Process.Signal(s) // it may just have ended
	}
}

// hears waits until the process has said something.
func (p *process) hears(words string) {
	p.t.Helper()
	await(p.t, words, 30*time.Second, func() bool { return strings.Contains(p.said(), words) }, p.said)
}

// ends waits for the process's end and holds it to an exit code; -1 is a signal.
func (p *process) ends(code int) {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(90 * time.Second):
		p.t.Fatalf("%v does not end:\n%s", p.cmd.Args, p.said())
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("%v exited with %d, want %d:\n%s", p.cmd.Args, got, code, p.said())
	}
}

func await(t *testing.T, what string, limit time.Duration, is func() bool, said func() string) time.Duration {
	t.Helper()
	begun := time.Now()
	for !is() {
		if time.Since(begun) > limit {
			t.Fatalf("not within %v: %s\n%s", limit, what, said())
		}
		time.Sleep(10 * time.Millisecond)
	}
	return time.Since(begun)
}

// events waits until a session's events have some text.
func events(t *testing.T, p *process, out, text string, limit time.Duration) time.Duration {
	t.Helper()
	return await(t, "event "+text, limit, func() bool {
		b, err := os.ReadFile(filepath.Join(out, "events.ndjson"))
		return err == nil && bytes.Contains(b, []byte(text))
	}, p.said)
}

func document(t *testing.T, out string) *results.Document {
	t.Helper()
	doc, err := results.Read(filepath.Join(out, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// short is a scenario of a moment, with what else stands at its top.
func short(top string) string {
	return "scenario: two\n" + top + `
runs:
  a:
    workload: transfer
    options: {fabric: tcp, block_size: 64KiB, iterations: 300}
    launches: 2
`
}

// long is a scenario with long launches, so that something can happen to them; a failed one
// is repeated.
const long = `scenario: long
cluster: {nodes: 2}
runs:
  a:
    workload: transfer
    options: {fabric: tcp, block_size: 64KiB, duration: 2s}
    launches: 3
    retry: 2
`

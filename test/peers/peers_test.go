package peers

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/lab"
	"github.com/weir-bench/weir/test/phase"
)

// required is the value of WEIR_PEERS under which nothing may be missing.
const required = "required"

var home string

func TestMain(m *testing.M) {
	lab.UnsetTuningVariables()
	os.Setenv("WEIR_DISTURBED", "keep") // the machine that runs tests is never quiet
	var err error
	if home, err = os.MkdirTemp("", "wp"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

var program = sync.OnceValues(func() (string, error) {
	path := filepath.Join(home, "weir")
	out, err := exec.Command("go", "build", "-o", path, "github.com/weir-bench/weir/cmd/weir").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("building weir: %w\n%s", err, out)
	}
	return path, nil
})

// missing skips a test of what is not here, or fails it where all is to be here.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("WEIR_PEERS") == required {
		t.Fatalf("%s is not here", what)
	}
	t.Skipf("%s is not here: make peers installs it", what)
}

// peer is a file that make peers installs.
func peer(t *testing.T, path string) string {
	t.Helper()
	phase.Rest(t)
	whole, err := filepath.Abs(filepath.Join("../../.build/peers", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(whole); err != nil {
		missing(t, path)
	}
	return whole
}

// tool is a program of the distribution.
func tool(t *testing.T, name string) {
	t.Helper()
	phase.Rest(t)
	if _, err := exec.LookPath(name); err != nil {
		missing(t, name)
	}
}

// run runs a scenario, which must end so, and gives its document and its Markdown report.
func run(t *testing.T, scenario string, code int, more ...string) (*results.Document, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(file, []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	s := runNamed(t, file, more...)
	if s.code != code {
		t.Fatalf("exit code %d, want %d:\n%s", s.code, code, s.said)
	}
	report, err := os.ReadFile(filepath.Join(s.out, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	return s.doc, string(report)
}

// session is one that has ended.
type session struct {
	doc       *results.Document
	code      int
	said, out string
}

// runNamed runs a file or a scenario of the catalogue, which must give a document.
func runNamed(t *testing.T, scenario string, more ...string) session {
	t.Helper()
	weir, err := program()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out")
	ctx, stop := context.WithTimeout(context.Background(), 8*time.Minute) // so that nothing hangs
	defer stop()
	cmd := exec.CommandContext(ctx, weir, append([]string{"run", scenario, "--out", out}, more...)...)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	doc, bad := results.Read(filepath.Join(out, "results.json"))
	if bad != nil {
		t.Fatalf("%v, %v:\n%s", err, bad, text)
	}
	return session{doc, cmd.ProcessState.ExitCode(), string(text), out}
}

// measured holds each case of a run to having a positive value of a metric.
func measured(t *testing.T, doc *results.Document, of, metric string, cases int) {
	t.Helper()
	n := 0
	for _, c := range doc.Cases {
		if c.Run != of {
			continue
		}
		n++
		for _, l := range c.Launches {
			if v, ok := l.Metrics.Get(metric); !ok || !(v > 0) {
				t.Errorf("%s has %s %v", c.Key, metric, v)
			}
		}
	}
	if n != cases {
		t.Errorf("run %s has %d cases, want %d", of, n, cases)
	}
}

// python is the interpreter of one of the environments, and a text of the scenario that has it.
func python(t *testing.T, environment string) string {
	return peer(t, environment+"/bin/python")
}

func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

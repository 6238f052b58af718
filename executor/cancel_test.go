package executor

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

func badMetric(*workload.Measured, *results.Launch) (map[string]float64, error) {
	return map[string]float64{"bandwidth": math.NaN(), "latency.avg": 1}, nil
}

type signalled struct{}

func (signalled) Error() string { return "terminated" }
func (signalled) ExitCode() int { return 143 }

// TestCancelInMidRun cancels while ranks are running, some of which ignore the stop.
func TestCancelInMidRun(t *testing.T) {
	for name, test := range map[string]struct {
		fault string
		cause error
		code  int
	}{
		"ranks stop when told":   {"none", context.Canceled, 130},
		"a rank does not listen": {"hang run 1 c[x=2]", signalled{}, 143},
		"a rank is stopped":      {"stop run 1 c[x=2]", context.DeadlineExceeded, 124},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			cases := []*planner.Case{
				aCase("c[x=1]", env(faultEnv, test.fault), env(stepEnv, "1ms")),
				aCase("c[x=2]", env(faultEnv, test.fault), env(stepEnv, "1ms"), withOption("iterations", int64(100000)),
					timeout(time.Minute)),
				aCase("c[x=3]", env(faultEnv, test.fault), env(stepEnv, "1ms")),
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var at time.Time
			o := b.options()
			o.Deadlines.Grace = time.Second
			o.Events = func(e event.Event) {
				b.events = append(b.events, e)
				if e.Type == event.CaseProgress && e.Case == "c[x=2]" && e.Done > 0 && at.IsZero() {
					at = time.Now()
					cancel(test.cause)
				}
			}
			doc, err := Run(ctx, aPlan(cases, aGroup("g", cases, 3)), o)
			if !errors.Is(err, test.cause) {
				t.Errorf("error %v, want the cause %v", err, test.cause)
			}
			if at.IsZero() {
				t.Fatal("never got to the second case")
			}
			if took := time.Since(at); took > 20*time.Second { // a case may take a minute
				t.Errorf("took %v to end", took)
			}
			for _, e := range b.events {
				if e.Type == event.LaunchFinished && e.Status != results.Aborted {
					t.Errorf("an interrupted launch has status %s", e.Status)
				}
			}
			if doc.Session.Status != results.Aborted || doc.Session.ExitCode != test.code || doc.Session.Reason == "" {
				t.Errorf("session %+v", doc.Session)
			}
			if c := doc.Case("c[x=1]"); c.Status != results.OK || len(c.Launches) != 1 ||
				!strings.HasPrefix(c.Reason, "aborted: ") {
				t.Errorf("the case that had run is %s after %d launches: %s", c.Status, len(c.Launches), c.Reason)
			}
			for _, key := range []string{"c[x=2]", "c[x=3]"} {
				if c := doc.Case(key); c.Status != results.Skipped || !strings.HasPrefix(c.Reason, "aborted: ") {
					t.Errorf("%s is %s: %s", key, c.Status, c.Reason)
				}
			}
		})
	}
}

func TestCancelBeforeAnythingRuns(t *testing.T) {
	b := newBench(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(signalled{})
	doc, err := Run(ctx, onePlan(aCase("c")), b.options())
	if !errors.Is(err, signalled{}) || doc.Session.Status != results.Aborted ||
		doc.Case("c").Status != results.Skipped {
		t.Errorf("%v, %+v", err, doc.Session)
	}
}

// TestNoKeysStay runs sessions on an etcd that outlives them.
func TestNoKeysStay(t *testing.T) {
	dir, err := os.MkdirTemp("", "ke")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server, err := registry.StartServer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	observer, err := registry.Open(t.Context(), server.Config(), "observer")
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Close(false)
	keys := func() int {
		n, err := observer.Keys(t.Context(), "test-session")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for name, fault := range map[string]string{"success": "none", "failure": "kill run 1", "cancel": "hang run 1"} {
		b := newBench(t)
		ctx, cancel := context.WithCancel(t.Context())
		o := b.options()
		o.Etcd = server.Config()
		during := 0
		o.Events = func(e event.Event) {
			switch {
			case e.Type == event.LaunchStarted:
				during = keys()
			case e.Type == event.CaseStarted && name == "cancel":
				cancel()
			}
		}
		doc, err := Run(ctx, onePlan(aCase("c", env(faultEnv, fault))), o)
		cancel()
		if (err != nil) != (name == "cancel") {
			t.Errorf("%s: %v, session %+v", name, err, doc.Session)
		}
		if during == 0 {
			t.Errorf("%s: no keys while it ran", name)
		}
		if n := keys(); n != 0 {
			t.Errorf("%s: %d keys left", name, n)
		}
	}
}

// TestKilledSessionTakesItsRanksAlong kills the process of a session with SIGKILL: its ranks must die with it, and
// the next session must remove its files.
func TestKilledSessionTakesItsRanksAlong(t *testing.T) {
	if os.Getenv("WEIR_TEST_VICTIM") != "" {
		victim(t)
		return
	}
	b := newBench(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestKilledSessionTakesItsRanksAlong$")
	cmd.Env = append(os.Environ(), "WEIR_TEST_VICTIM="+b.dir, "WEIR_TEST_SHM="+sharedMemory)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	if n, err := out.Read(buf); err != nil || !strings.Contains(string(buf[:n]), "ready to die") {
		t.Fatalf("the victim said %q, %v", buf[:n], err)
	}
	ranks := ranksIn(t, b.dir)
	if len(ranks) != 2 {
		t.Errorf("ranks before the kill: %v", ranks)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	for deadline := time.Now().Add(30 * time.Second); len(ranksIn(t, b.dir)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("ranks that outlived their session: %v", ranksIn(t, b.dir))
		}
	}
	if left, _ := os.ReadDir(sharedMemory); len(left) == 0 {
		t.Error("the killed session left nothing, so the test shows nothing")
	}
	b.run(onePlan(aCase("next"))) // the bench checks that nothing at all is left
}

func victim(t *testing.T) {
	sharedMemory = os.Getenv("WEIR_TEST_SHM")
	b := &bench{t: t, dir: os.Getenv("WEIR_TEST_VICTIM")}
	o := b.options()
	o.Dir = filepath.Join(b.dir, "killed")
	told := false
	o.Events = func(e event.Event) {
		if e.Type == event.CaseProgress && !told {
			told = true
			os.Stdout.WriteString("ready to die\n")
		}
	}
	c := aCase("c", env(stepEnv, "10ms"), env("WEIR_TEST_OF", b.dir), withOption("iterations", int64(1000000)),
		timeout(time.Minute))
	_, err := Run(t.Context(), onePlan(c), o)
	t.Errorf("the victim ended by itself: %v", err)
}

// ranksIn are the rank processes with a directory in their environment.
func ranksIn(t *testing.T, dir string) []string {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	var ranks []string
	for _, path := range found {
		text, _ := os.ReadFile(path) // other people's, and processes that have ended
		if strings.Contains(string(text), "WEIR_TEST_OF="+dir) {
			ranks = append(ranks, path)
		}
	}
	return ranks
}

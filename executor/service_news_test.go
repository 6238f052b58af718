package executor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/workload"
)

// A session says what a service that is not ready has printed last, again and again.
func TestNewsOfAService(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	x := &service{Service: workload.Service{Name: "worker"}, log: "worker.log", started: now.Add(-19 * time.Minute)}
	if got := x.news(dir, nil, now); got != "not ready after 19m" {
		t.Errorf("a log that is elsewhere: %q", got)
	}
	for content, want := range map[string]string{
		"":                                 "not ready after 19m; it has printed nothing",
		"loading\ncompiling kernel 7/96\n": "not ready after 19m; its last line: compiling kernel 7/96",
		"\x1b]0;x\aCUDA\n\n":               "not ready after 19m; its last line: ]0;xCUDA",
	} {
		if err := os.WriteFile(filepath.Join(dir, x.log), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := x.news(dir, nil, now); got != want {
			t.Errorf("%q: %q, want %q", content, got, want)
		}
	}
	t.Setenv("TOKEN", "hunter2hunter2")
	if err := os.WriteFile(filepath.Join(dir, x.log), []byte("key hunter2hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := x.news(dir, []string{"TOKEN"}, now); strings.Contains(got, "hunter2") {
		t.Errorf("a secret is told: %q", got)
	}
}

func TestWaitWithNews(t *testing.T) {
	s := &session{posted: make(chan func()), closed: make(chan struct{})}
	calls := 0
	err := s.waitWithNews(t.Context(), time.Millisecond, func() { calls++ }, func() bool { return calls == 3 })
	if err != nil || calls != 3 {
		t.Errorf("%v after %d", err, calls)
	}
}

// While a launch has no result, its services' new lines are told; no line twice, and none after a result.
func TestNewsOfALaunch(t *testing.T) {
	var news []string
	s := &session{o: Options{Options: ledger.Options{Dir: t.TempDir()}}, ledger: &ledger.Ledger{Events: event.Stream{
		OnEvent: func(e event.Event) { news = append(news, e.Service+": "+e.Reason) },
	}}}
	v := &services{s: s, up: []*service{
		{Service: workload.Service{Name: "worker"}, log: "worker.log", facts: &workload.ServiceFacts{}},
		{Service: workload.Service{Name: "other"}, log: "worker.log", facts: &workload.ServiceFacts{}},
	}}
	l := &launchRun{s: s, services: []workload.Service{{Name: "worker"}}}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(s.o.Dir, "worker.log"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		v.tellWork(l)
	}
	write("compiling 1/96\n")
	write("compiling 1/96\n")
	write("compiling 2/96\n")
	l.lastResult = time.Now()
	write("ready\n")
	l.lastResult, l.firstLog, l.g = time.Time{}, "0.log", &ledger.Group{LaunchGroup: &planner.LaunchGroup{ID: "load"}}
	if err := os.Mkdir(filepath.Join(s.o.Dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	rank := "http://127.0.0.1:9 is not ready: connection refused"
	if err := os.WriteFile(filepath.Join(s.o.Dir, "logs", "0.log"), []byte(rank+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.services = nil
	v.tellWork(l)
	v.tellWork(l)
	want := []string{
		"worker: no result of the launch yet; its last line: compiling 1/96",
		"worker: no result of the launch yet; its last line: compiling 2/96",
		": load has no result yet; the last line of rank 0: " + rank,
	}
	if !slices.Equal(news, want) {
		t.Errorf("%q, want %q", news, want)
	}
}

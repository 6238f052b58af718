package executor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// shell is a command that runs a shell script.
func shell(name, script string) planner.Command {
	return planner.Command{Name: name, On: "every node", Command: []string{"sh", "-c", script}, Timeout: 5}
}

// noting is a command that appends its name to a file.
func (b *bench) noting(name string) planner.Command {
	return shell(name, "echo "+name+" >>"+b.notes())
}

func (b *bench) notes() string { return filepath.Join(b.dir, "notes") }

func (b *bench) noted() string {
	text, err := os.ReadFile(b.notes())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		b.t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

// surrounded is a plan of one run with commands of every scope.
func (b *bench) surrounded(cases []*planner.Case, looks ...int) *planner.Plan {
	p := aPlan(cases, aGroup("g", cases, looks...))
	list := func(name string) []planner.Command { return []planner.Command{b.noting(name)} }
	p.Setup, p.Teardown = list("session-up"), list("session-down")
	p.Runs = []*planner.Run{{
		Name: cases[0].Run, Setup: list("run-up"), Teardown: list("run-down"),
		LaunchSetup: list("launch-up"), LaunchTeardown: list("launch-down"),
	}}
	return p
}

func TestCommandsSurroundWhatTheyAreOf(t *testing.T) {
	b := newBench(t)
	doc := b.run(b.surrounded([]*planner.Case{aCase("c")}, 2))
	const want = "session-up run-up launch-up launch-down launch-up launch-down run-down session-down"
	if got := b.noted(); got != want {
		t.Errorf("ran %s\nwant %s", got, want)
	}
	var of []string
	for _, c := range doc.Commands {
		of = append(of, strings.TrimSuffix(c.Stage+":"+c.Scope+":"+c.Of, ":"))
		if c.Status != results.OK || c.Duration <= 0 || c.Node == "" || c.Started.IsZero() {
			t.Errorf("command %+v", c)
		}
	}
	const kept = "setup:session setup:run:c setup:launch:g/0 teardown:launch:g/0 setup:launch:g/1 teardown:launch:g/1 teardown:run:c teardown:session"
	if strings.Join(of, " ") != kept {
		t.Errorf("in the document: %v", of)
	}
	if doc.Session.ExitCode != 0 {
		t.Errorf("session %+v", doc.Session)
	}
}

func TestCommandSeesItsEnvironmentAndItsOutputIsKept(t *testing.T) {
	b := newBench(t)
	p := onePlan(aCase("c"))
	every, first := shell("every", "echo $GREETING; echo twice >&2"), shell("first", "echo once")
	every.Env, first.On = map[string]string{"GREETING": "hello"}, "first node"
	p.Setup = []planner.Command{every, first}
	doc := b.run(p, func(o *Options) { o.Nodes = []string{"n1", "n2"} })
	var ran []string
	for _, c := range doc.Commands {
		ran = append(ran, c.Name+"@"+c.Node+"="+strings.Join(c.Log, ","))
	}
	if want := []string{"every@n1=hello,twice", "every@n2=hello,twice", "first@n1=once"}; !slices.Equal(ran, want) {
		t.Errorf("ran %v, want %v", ran, want)
	}
	logs, err := filepath.Glob(filepath.Join(b.dir, "session", "logs", "commands", "*every*n2.log"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("logs %v, %v", logs, err)
	}
	if text, err := os.ReadFile(logs[0]); err != nil || string(text) != "hello\ntwice\n" {
		t.Errorf("log %q, %v", text, err)
	}
}

// TestSetupThatFails: its cases do not run, its teardown does.
func TestSetupThatFails(t *testing.T) {
	broken := shell("mount", "echo no such device >&2; exit 32")
	for name, test := range map[string]struct {
		at     func(*planner.Plan) *[]planner.Command
		noted  string
		status string
		reason string
	}{
		"session": {
			func(p *planner.Plan) *[]planner.Command { return &p.Setup },
			"session-up session-down", results.Skipped, `setup "mount" failed on node`,
		},
		"run": {
			func(p *planner.Plan) *[]planner.Command { return &p.Runs[0].Setup },
			"session-up run-up run-down session-down", results.Error, `setup "mount" failed on node`,
		},
		"launch": {
			func(p *planner.Plan) *[]planner.Command { return &p.Runs[0].LaunchSetup },
			"session-up run-up launch-up launch-down run-down session-down", results.Error,
			`launch 1: phase setup: setup "mount" failed on node`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			p := b.surrounded([]*planner.Case{aCase("c[x=1]"), aCase("c[x=2]")})
			list := test.at(p)
			*list = append(*list, broken, b.noting("never"))
			doc := b.run(p)
			if got := b.noted(); got != test.noted {
				t.Errorf("ran %s\nwant %s", got, test.noted)
			}
			for _, c := range doc.Cases {
				if c.Status != test.status || !strings.Contains(c.Reason, test.reason) {
					t.Errorf("%s is %s: %s", c.Key, c.Status, c.Reason)
				}
			}
			if doc.Session.ExitCode != ledger.ExitError {
				t.Errorf("session %+v", doc.Session)
			}
			i := slices.IndexFunc(doc.Commands, func(c results.Command) bool { return c.Name == "mount" })
			if c := doc.Commands[i]; c.Status != "failed" || c.Reason != "exit status 32" ||
				!slices.Equal(c.Log, []string{"no such device"}) {
				t.Errorf("command %+v", c)
			}
			if name == "launch" {
				if f := failure(t, doc, "c[x=2]"); f.Kind != results.FailedSetup || f.Phase != "setup" {
					t.Errorf("failure %+v", f)
				}
			}
		})
	}
}

func TestTeardownThatFailsIsAnErrorOfTheSession(t *testing.T) {
	b := newBench(t)
	p := b.surrounded([]*planner.Case{aCase("c")})
	p.Runs[0].Teardown = []planner.Command{shell("umount", "exit 1"), b.noting("after")}
	doc := b.run(p)
	if doc.Session.ExitCode != ledger.ExitError || !strings.Contains(doc.Session.Reason, `teardown "umount" failed`) {
		t.Errorf("session %+v", doc.Session)
	}
	if c := doc.Case("c"); c.Status != results.OK {
		t.Errorf("what was measured before is %s: %s", c.Status, c.Reason)
	}
	if !strings.HasSuffix(b.noted(), "after session-down") {
		t.Errorf("ran %s", b.noted())
	}
}

func TestCommandHasItsOwnTimeout(t *testing.T) {
	b := newBench(t)
	p := onePlan(aCase("c"))
	slow := shell("slow", "sleep 60 & sleep 60")
	slow.Timeout = 0.3
	p.Setup = []planner.Command{slow}
	doc := b.run(p)
	if r := doc.Commands[0]; r.Status != "failed" || r.Reason != "did not end within 300ms" || r.Duration > 20 {
		t.Errorf("command %+v", r)
	}
}

// TestTeardownRunsWhateverEndsTheSession in the middle of a launch.
func TestTeardownRunsWhateverEndsTheSession(t *testing.T) {
	for name, test := range map[string]struct {
		fault string
		fast  bool
		end   error
	}{
		"interrupt": {fault: "hang run 1", end: signalled{}},
		"timeout":   {fault: "hang run 1", end: context.DeadlineExceeded},
		"failure":   {fault: "kill run 1"},
		"fail fast": {fault: "kill run 1", fast: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			p := b.surrounded([]*planner.Case{aCase("c", env(faultEnv, test.fault))})
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			o := b.options()
			o.FailFast = test.fast
			o.Events = func(e event.Event) {
				if e.Type == event.CaseStarted && test.end != nil {
					cancel(test.end)
				}
			}
			doc, err := Run(ctx, p, o)
			if !errors.Is(err, test.end) {
				t.Errorf("error %v", err)
			}
			if got := b.noted(); !strings.HasSuffix(got, "launch-up launch-down run-down session-down") {
				t.Errorf("ran %s", got)
			}
			if test.end != nil && doc.Session.Status != results.Aborted {
				t.Errorf("session %+v", doc.Session)
			}
		})
	}
}

// TestSecondInterruptGivesUpWaiting for a long teardown, and for ranks that ignore the stop.
func TestSecondInterruptGivesUpWaiting(t *testing.T) {
	t.Run("teardown", func(t *testing.T) {
		b := newBench(t)
		p := b.surrounded([]*planner.Case{aCase("c")})
		p.Runs[0].LaunchTeardown = []planner.Command{shell("slow", "touch "+b.notes()+".slow; sleep 60")}
		kill := make(chan struct{})
		ctx, cancel := context.WithCancelCause(t.Context())
		var killedAt time.Time
		go func() {
			for {
				if _, err := os.Stat(b.notes() + ".slow"); err == nil {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			cancel(signalled{})
			time.Sleep(100 * time.Millisecond)
			killedAt = time.Now()
			close(kill)
		}()
		o := b.options()
		o.Kill = kill
		p.Runs[0].LaunchTeardown[0].Timeout = 60
		doc, err := Run(ctx, p, o)
		if took := time.Since(killedAt); !errors.Is(err, signalled{}) || took > 20*time.Second {
			t.Errorf("took %v: %v", took, err)
		}
		last := doc.Commands[len(doc.Commands)-1]
		if last.Name != "session-down" || last.Status != "failed" ||
			!strings.Contains(last.Reason, "interrupted a second time") {
			t.Errorf("the missing teardown is recorded as %+v", last)
		}
		if got := b.noted(); strings.Contains(got, "-down") {
			t.Errorf("teardown was begun only to be killed: ran %s", got)
		}
	})
	t.Run("ranks", func(t *testing.T) {
		b := newBench(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		kill := make(chan struct{})
		var killedAt time.Time
		o := b.options()
		o.Kill, o.Deadlines.Grace = kill, 30*time.Second
		o.Events = func(e event.Event) {
			if e.Type == event.CaseStarted && killedAt.IsZero() {
				cancel(signalled{})
				killedAt = time.Now()
				close(kill)
			}
		}
		_, err := Run(ctx, onePlan(aCase("c", env(faultEnv, "hang run 1"), timeout(time.Minute))), o)
		if took := time.Since(killedAt); !errors.Is(err, signalled{}) || took > 20*time.Second {
			t.Errorf("took %v: %v", took, err)
		}
	})
}

// TestTeardownIsRecordedOnce, even if the journal cannot be written any more.
func TestTeardownIsRecordedOnce(t *testing.T) {
	b := newBench(t)
	o := b.options()
	var s *session
	o.Events = func(e event.Event) {
		if e.Type == event.LaunchFinished {
			s.ledger.Abandon()
		}
	}
	s = newSession(b.surrounded([]*planner.Case{aCase("c")}), o)
	if err := s.conclude(t.Context(), s.run(t.Context())); err == nil {
		t.Error("the loss of the journal is not reported")
	}
	var names []string
	for _, c := range s.ledger.Doc.Commands {
		if c.Stage == ledger.Teardown {
			names = append(names, c.Name+" "+c.Status)
		}
	}
	if want := []string{"launch-down ok", "run-down ok", "session-down ok"}; !slices.Equal(names, want) {
		t.Errorf("in the document: %q", names)
	}
}

// TestResumedSessionKeepsFormerLogs, also of commands that it repeats because they failed.
func TestResumedSessionKeepsFormerLogs(t *testing.T) {
	b := newBench(t)
	p := onePlan(aCase("c"))
	p.Setup = []planner.Command{shell("up", "echo $$; test -e "+b.notes())} // each time another
	p.Teardown = []planner.Command{shell("down", "echo $$; test -e "+b.notes())}
	if doc := b.run(p); doc.Session.ExitCode != ledger.ExitError {
		t.Fatalf("session %+v", doc.Session)
	}
	if err := os.WriteFile(b.notes(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	logs := func() map[string]string {
		found, err := filepath.Glob(filepath.Join(b.dir, "session", "logs", "commands", "*"))
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for _, path := range found {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			all[path] = string(text)
		}
		return all
	}
	before := logs()
	if doc := b.run(p, func(o *Options) { o.Resume = true }); doc.Session.ExitCode != 0 {
		t.Errorf("session %+v", doc.Session)
	}
	after := logs()
	for path, text := range before {
		if after[path] != text {
			t.Errorf("%s held %q and holds %q", path, text, after[path])
		}
	}
	if len(before) != 2 || len(after) != 4 {
		t.Errorf("%d logs before, %d after", len(before), len(after))
	}
}

func TestRunsTeardownComesWhenItIsOver(t *testing.T) {
	b := newBench(t)
	first, second := []*planner.Case{aCase("first")}, []*planner.Case{aCase("second", needs("first"))}
	g := aGroup("S", second)
	g.Needs = []string{"F"}
	p := aPlan(slices.Concat(first, second), aGroup("F", first), g)
	p.Runs = []*planner.Run{
		{
			Name: "first", Setup: []planner.Command{b.noting("first-up")},
			Teardown: []planner.Command{b.noting("first-down")},
		},
		{
			Name: "second", Setup: []planner.Command{b.noting("second-up")},
			Teardown: []planner.Command{b.noting("second-down")},
		},
	}
	b.run(p)
	if got := b.noted(); got != "first-up first-down second-up second-down" {
		t.Errorf("ran %s", got)
	}
}

package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
)

// aCase is a case with defaults for tests.
func aCase(key string, change ...func(*planner.Case)) *planner.Case {
	run, _, _ := strings.Cut(key, "[")
	c := &planner.Case{
		Key: key, ID: "sha256:" + key, Run: run, Workload: "transfer", Status: planner.Planned, Timeout: 60,
		Options: option.Values{"fabric": "shm", "block_size": quantity.Size(4096), "iterations": int64(20)},
		Env:     map[string]string{},
	}
	for _, f := range change {
		f(c)
	}
	return c
}

func env(name, value string) func(*planner.Case) {
	return func(c *planner.Case) { c.Env[name] = value }
}

func withOption(name string, value any) func(*planner.Case) {
	return func(c *planner.Case) { c.Options[name] = value }
}

func timeout(d time.Duration) func(*planner.Case) {
	return func(c *planner.Case) { c.Timeout = d.Seconds() }
}

func needs(keys ...string) func(*planner.Case) {
	return func(c *planner.Case) { c.Needs = keys }
}

// gated gives a case an assertion for judges to decide.
func gated(c *planner.Case) {
	c.Assertions = []assertion.Assertion{{Name: "a of " + c.Key, Severity: assertion.Gate}}
}

// aGroup is a launch group of cases, one launch unless looks say otherwise.
func aGroup(id string, cases []*planner.Case, looks ...int) *planner.LaunchGroup {
	if looks == nil {
		looks = []int{1}
	}
	g := &planner.LaunchGroup{ID: id, Run: cases[0].Run, Ranks: 2, Looks: looks}
	for _, c := range cases {
		g.Cases = append(g.Cases, c.Key)
	}
	return g
}

// aPlan is a plan of groups with their cases.
func aPlan(cases []*planner.Case, groups ...*planner.LaunchGroup) *planner.Plan {
	return &planner.Plan{
		Schema: planner.Schema, Digest: "sha256:plan", Scenario: planner.Scenario{Name: "test"}, Cases: cases,
		Groups: groups,
	}
}

// onePlan is a plan with one group.
func onePlan(cases ...*planner.Case) *planner.Plan {
	return aPlan(cases, aGroup(cases[0].Run, cases))
}

// bench is an environment for a session, which checks that nothing is left.
type bench struct {
	t      testing.TB
	dir    string
	tmp    string
	events []event.Event
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir()}
	var err error
	if b.tmp, err = os.MkdirTemp("", "ex"); err != nil { // t.TempDir's path is too long for a socket
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", b.tmp)
	old := sharedMemory
	if sharedMemory, err = os.MkdirTemp("/dev/shm", "ex"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.nothingLeft()
		holdToSchema(t, b.events) // whatever a test is about
		os.RemoveAll(sharedMemory)
		os.RemoveAll(b.tmp)
		sharedMemory = old
	})
	return b
}

// options have deadlines that a busy machine meets; a test of a deadline sets its own.
func (b *bench) options() Options {
	return Options{
		Options: ledger.Options{
			Dir: filepath.Join(b.dir, "session"), SessionID: "test-session",
			Events: func(e event.Event) { b.events = append(b.events, e) },
		},
		RankCommand: []string{os.Args[0], "rank"}, ProbeCommand: []string{os.Args[0], "probe"},
		Disturbed: KeepDisturbed, // the machine that runs tests is never quiet
		Deadlines: agent.Deadlines{
			Ready: 30 * time.Second, Connect: 30 * time.Second, Teardown: 10 * time.Second,
			Grace: 300 * time.Millisecond,
		},
	}
}

// run runs a plan that must not fail as a session.
func (b *bench) run(p *planner.Plan, change ...func(*Options)) *results.Document {
	b.t.Helper()
	o := b.options()
	for _, f := range change {
		f(&o)
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), 5*time.Minute) // only so that nothing hangs
	defer cancel()
	doc, err := Run(ctx, p, o)
	if err != nil {
		b.t.Fatalf("the session failed: %v", err)
	}
	return doc
}

// nothingLeft checks that a session has left no files and processes.
func (b *bench) nothingLeft() {
	b.t.Helper()
	for _, dir := range []string{b.tmp, sharedMemory} {
		left, err := os.ReadDir(dir)
		if err != nil || len(left) > 0 {
			b.t.Errorf("left in %s: %v (%v)", dir, left, err)
		}
	}
	if c := children(b.t); len(c) > 0 {
		b.t.Errorf("processes left: %v", c)
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		b.t.Fatal(err)
	}
	for _, fd := range fds {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.Contains(to, "weir-control") {
			b.t.Errorf("descriptor %s is still a control page", fd.Name())
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		b.t.Fatal(err)
	}
	if strings.Contains(string(maps), "weir-control") {
		b.t.Error("a control page is still mapped")
	}
}

// children are the running child processes.
func children(t testing.TB) []string {
	t.Helper()
	var all []string
	found, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		text, _ := os.ReadFile(path) // a thread may have ended
		all = append(all, strings.Fields(string(text))...)
	}
	return all
}

// count is the number of events of a type for a case; key "": any.
func (b *bench) count(kind event.Type, key string) int {
	n := 0
	for _, e := range b.events {
		if e.Type == kind && (key == "" || e.Case == key) {
			n++
		}
	}
	return n
}

// launches is the order in which groups were launched, as "a0 b0 a1".
func (b *bench) launches() string {
	var order []string
	for _, e := range b.events {
		if e.Type == event.LaunchStarted {
			order = append(order, fmt.Sprintf("%s%d", e.Group, *e.Launch))
		}
	}
	return strings.Join(order, " ")
}

// silence is the time from the last success event of the last launch to its end.
func (b *bench) silence() time.Duration {
	var good time.Time
	for _, e := range b.events {
		switch e.Type {
		case event.LaunchStarted, event.CaseStarted, event.CaseFinished:
			good = e.Time
		case event.LaunchFinished:
			return e.Time.Sub(good)
		}
	}
	b.t.Fatal("no launch finished")
	return 0
}

// failure is the failure of the only failed launch of a case.
func failure(t testing.TB, d *results.Document, key string) *results.Failure {
	t.Helper()
	c := d.Case(key)
	if c.Status != results.Error {
		t.Fatalf("case %s is %s (%s), want error", key, c.Status, c.Reason)
	}
	if len(c.Launches) == 0 || c.Launches[len(c.Launches)-1].Failure == nil {
		t.Fatalf("case %s has no failed launch: %s", key, c.Reason)
	}
	return c.Launches[len(c.Launches)-1].Failure
}

// interrupted runs a plan and interrupts it when a case has this many launches.
func (b *bench) interrupted(p *planner.Plan, key string, after int) (doc *results.Document, was bool) {
	b.t.Helper()
	ctx, cancel := context.WithCancelCause(b.t.Context())
	defer cancel(nil)
	o := b.options()
	o.Events = func(e event.Event) {
		b.events = append(b.events, e)
		if b.count(event.CaseMeasured, key) == after {
			cancel(signalled{})
		}
	}
	doc, err := Run(ctx, p, o)
	return doc, errors.Is(err, signalled{})
}

package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"github.com/weir-bench/weir/executor/host/cgroup"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/traffic"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
)

func TestJudgeFindsTheCause(t *testing.T) {
	begin := time.Now()
	at := func(ms int, k causeKind, rank int) cause {
		return cause{
			kind: k, rank: rank, at: begin.Add(time.Duration(ms) * time.Millisecond), phase: "run",
			text: fmt.Sprintf("cause %d", ms),
		}
	}
	for name, test := range map[string]struct {
		causes []cause
		rank   int
		cause  string
	}{
		"a peer complains before the kernel reaps the dead": {[]cause{at(0, causePeer, 0), at(1, causePeer, 2),
			at(9, causeDied, 1)}, 1, "cause 9"},
		"a timeout before a closed connection": {[]cause{at(0, causePeerClosed, 0), at(1, causePeer, 1)}, 1,
			"cause 1"},

		"an engine's own error before those about it": {[]cause{at(0, causePeer, 0), at(3, causeFailed, 1)}, 1,
			"cause 3"},
		"a stopped rank before time-outs": {[]cause{at(0, causeOverdue, 0), at(0, causeStopped, 3)}, 3, "cause 0"},
		"a rank that hangs before those that wait for it": {[]cause{at(0, causeOverdue, 0), at(1, causeStalled, 1),
			at(2, causePeer, 0)}, 1, "cause 1"},
		"of two alike the first":     {[]cause{at(5, causeDied, 0), at(2, causeDied, 1)}, 1, "cause 2"},
		"a cancellation is no cause": {[]cause{at(0, causeCancelled, 0), at(5, causeFailed, 1)}, 1, "cause 5"},

		"all late and all moving": {[]cause{at(1, causeOverdue, 0), at(1, causeOverdue, 1)}, -1, "2 ranks cause 1"},
		"one late":                {[]cause{at(1, causeOverdue, 1)}, 1, "cause 1"},
	} {
		if got := rootCause(test.causes); got.rank != test.rank || got.text != test.cause {
			t.Errorf("%s: rank %d, %s", name, got.rank, got.text)
		}
	}
}

func TestWeightierOutcome(t *testing.T) {
	fine := &Outcome{}
	peer := failedOutcome(causePeer, results.Failure{Rank: 0})
	died := failedOutcome(causeDied, results.Failure{Rank: 1})
	for _, test := range []struct {
		a, b *Outcome
		want bool
	}{
		{fine, nil, false}, {peer, nil, true}, {peer, fine, true}, {fine, peer, false}, {died, peer, true},
		{peer, died, false},
	} {
		if got := test.a.TakesPrecedence(test.b); got != test.want {
			t.Errorf("%+v over %+v: %v", test.a, test.b, got)
		}
	}
}

func TestEngineErrorsAreSorted(t *testing.T) {
	for _, test := range []struct {
		err   engine.Error
		kind  causeKind
		class string
		text  string
	}{
		{engine.Error{Fabric: "ucx", Op: "put", Peer: -1, Code: -3, Text: "no memory"}, causeFailed, "",
			"ucx: put: no memory"},
		{engine.Error{Fabric: "tcp", Op: "put", Peer: 1, Code: -104, Text: "reset"}, causePeerClosed, "",
			"tcp: put (peer 1): reset"},
		{engine.Error{Fabric: "ucx", Op: "put", Peer: 1, Code: -22, Text: "bad key"}, causePeer, "",
			"ucx: put (peer 1): bad key"},
		{engine.Error{Fabric: "shm", Op: "wait", Peer: -1, Code: -110, Text: "deadline"}, causePeer, results.TimedOut,
			"shm: wait: deadline"},
		{engine.Error{Fabric: "shm", Op: "wait", Peer: -1, Code: -125, Text: "told to stop"}, causeCancelled, "",
			"shm: wait: told to stop"},
		{engine.Error{Peer: -1, Text: "no engine\x1b[31m"}, causeFailed, "", "no engine[31m"},
		{engine.Error{Fabric: "shm", Op: "verify", Phase: "verify", Peer: 0, Code: -74, Text: "wrong data"},
			causeFailed, results.Wrong, "shm: verify (peer 0): wrong data"},
	} {
		if k, class, text := engineCause(&test.err); k != test.kind || class != test.class || text != test.text {
			t.Errorf("%+v: %v, %q, %q", test.err, k, class, text)
		}
	}
}

func TestTailOfALog(t *testing.T) {
	logs := logDir{path: filepath.Join(t.TempDir(), "logs")}
	defer logs.close()
	log, to, err := logs.create("a/log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	if log.tail() != nil || log.head() != "" {
		t.Error("an empty log has lines")
	}
	var b strings.Builder
	for i := range 30000 {
		fmt.Fprintf(&b, "line %d\n", i)
	}
	b.WriteString("bad \xff byte, \x1b[31mred\x1b[0m, " + strings.Repeat("long ", 200) + "\n\n")
	if _, err := to.WriteString(b.String()); err != nil {
		t.Fatal(err)
	}
	to.Close()
	got := log.tail()
	if len(got) != logLines || got[0] != "line 29981" {
		t.Errorf("%d lines from %q", len(got), got[0])
	}
	last := got[len(got)-1]
	if !strings.HasPrefix(last, "bad � byte, [31mred[0m, long") || len(last) > lineMax+len("…") {
		t.Errorf("last line %q", last)
	}
	if head := log.head(); len(head) != headMax || !strings.HasPrefix(head, "line 0\n") {
		t.Errorf("a head of %d bytes", len(head))
	}
	var none *logFile
	if none.tail() != nil || none.head() != "" {
		t.Error("a log that was not made has lines")
	}
}

func TestOrphansAreOnlyOurs(t *testing.T) {
	const list = `       key      shmid perms                  size  cpid  lpid nattch   uid   gid  cuid  cgid      atime      dtime      ctime
         0          3   600               4194304   100   100      0     0     0     0     0 1 2 3
         0          4   600               4194304   100   100      1     0     0     0     0 1 2 3
         0          5   600               4194304   200   200      0     0     0     0     0 1 2 3
`
	got := orphanedSegments(bufio.NewScanner(strings.NewReader(list)), map[int]bool{100: true})
	if diff := cmp.Diff([]int{3}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadyAllowsForMemory(t *testing.T) {
	d := Deadlines{Ready: time.Second}
	touched := func(o move.Spec) engine.Launch { return engine.Launch{Memory: o.Demand().Memory} }
	if got := d.ready(touched(move.Spec{BlockSize: 64 << 20, Batch: 16}), 2); got < 10*time.Second ||
		got > 30*time.Second {
		t.Errorf("two ranks that fill 2 GiB each get %v", got)
	}
	if got := d.ready(touched(move.Spec{BlockSize: 4096}), 2); got > 1100*time.Millisecond {
		t.Errorf("ranks with hardly any memory get %v", got)
	}
	all, err := traffic.Decode(option.Values{"generate": "uniform 256MiB", "ranks": int64(9)})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.ready(touched(all), 1); got < 16*time.Second || got > 30*time.Second {
		t.Errorf("a rank that fills 2 GiB to send and as much to receive gets %v", got)
	}
}

func TestCommandThatDoesNotEndIsKilledWithItsChildren(t *testing.T) {
	phase.Long(t)
	s := newSpawner(cgroup.Limits{}, nil)
	defer s.close()
	_, err := s.output(t.Context(), 3*time.Second, forRanks, []string{"sh", "-c", "sleep 60 & echo $!; sleep 60"},
		os.Environ())
	if err == nil || !strings.HasPrefix(err.Error(), "did not end within 3s: ") {
		t.Fatalf("error %v", err)
	}
	pid, cerr := strconv.Atoi(strings.TrimPrefix(err.Error(), "did not end within 3s: "))
	if cerr != nil {
		t.Fatal(cerr)
	}
	child := &process{pid: pid}
	for deadline := time.Now().Add(10 * time.Second); !dead(child.state()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the child is in state %c", child.state())
		}
	}
}

// TestCommandMayLeaveSomethingThatHoldsItsOutput, as a daemon does.
func TestCommandMayLeaveSomethingThatHoldsItsOutput(t *testing.T) {
	s := newSpawner(cgroup.Limits{}, nil)
	defer s.close()
	out, err := s.output(t.Context(), time.Minute, forRanks, []string{"sh", "-c", "setsid sleep 5 & echo done"},
		os.Environ())
	if err != nil || string(out) != "done\n" {
		t.Errorf("%q, %v", out, err)
	}
}

func TestWithdrawnCommandReportsTheReason(t *testing.T) {
	s := newSpawner(cgroup.Limits{}, nil)
	defer s.close()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errWithdrawn)
	for _, argv := range [][]string{{"sleep", "60"}, {"/nonexistent/weir"}} {
		if _, err := s.output(ctx, time.Minute, forRanks, argv, os.Environ()); !errors.Is(err, errWithdrawn) {
			t.Errorf("%s: %v", argv, err)
		}
	}
}

// TestWhatARankSaidComesBeforeItsEnd, although a process of another group holds its end of the socket and its
// messages were not read in time.
func TestWhatARankSaidComesBeforeItsEnd(t *testing.T) {
	s := newSpawner(cgroup.Limits{}, nil)
	defer s.close()
	events := make(chan event)
	p, err := startProcess(s, forRanks, nil,
		[]string{"sh", "-c", `setsid sleep 10 & printf 'c\0\0\0\0c\0\0\0\0c\0\0\0\0' >&3`},
		os.Environ(), output(t), func(e event) { events <- e })
	if err != nil {
		t.Fatal(err)
	}
	defer p.release()
	time.Sleep(2 * time.Second) // longer than the end of its messages is waited for
	frames := 0
	for e := range events {
		if e.exit != nil {
			break
		}
		if e.err != nil {
			t.Error(e.err)
		}
		frames++
	}
	if frames != 3 {
		t.Errorf("%d frames before the end, want 3", frames)
	}
}

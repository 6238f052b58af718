package executor

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"weir/engine"
	"weir/executor/agent"
	"weir/executor/cluster"
	"weir/executor/lab/board"
	"weir/executor/trust"
	"weir/executor/wire"
	"weir/results"
	"weir/test/phase"
	"weir/workload/move"
)

// lonely is an agent with rank 0 of a launch of two ranks. The test is the other
// node, and may not do its part. So long, at least, other ranks are waited for.
func lonely(t *testing.T, ready time.Duration) (*cluster.Session, <-chan agent.Report) {
	t.Helper()
	b, logs := board.New(t), newBench(t).dir
	reports := make(chan agent.Report, 16)
	a := agent.New(agent.Options{
		Verifier: b.Verifier,
		Node:     "n1", Session: board.ID, RankCommand: []string{os.Args[0], "rank"}, LogDir: logs, ScratchDir: b.Dir,
		Deadlines: agent.Deadlines{Ready: ready, Connect: 3 * time.Second, Grace: 300 * time.Millisecond},
		Sink:      func(r agent.Report) { reports <- r },
	})
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := a.Serve(t.Context(), b.Etcd.Config(), results.Node{}); err != nil {
		t.Fatal(err)
	}
	c, err := engine.NewCase("c", &move.Spec{Iterations: 1, BlockSize: 1}, time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := agent.Pack(engine.Launch{
		ID: "l", Ranks: 2, Nodes: []string{"n1", "n2"}, Runner: engine.Native, Threads: 1, Cases: []engine.Case{c},
	})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := agent.Task{Launch: &agent.LaunchTask{Text: cluster.TextFor(packed, 1), Ranks: []int{0}}}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	host, err := b.Host(t.Context(), "l", []string{"n1", "n2"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(host.Close)
	sealed := agent.Seal(b.Key, trust.Subject{Session: board.ID, Node: "n1", Name: "l"}, 1, spec)
	if err := b.Place(t.Context(), "l", map[string][]byte{"n1": sealed}); err != nil {
		t.Fatal(err)
	}
	return b.Session, reports
}

func outcomeOf(t *testing.T, reports <-chan agent.Report, task string) *results.Failure {
	t.Helper()
	for {
		select {
		case r := <-reports:
			if r.Outcome != nil && r.Task == task {
				if r.Outcome.Failure == nil {
					t.Fatal("the launch succeeded")
				}
				return r.Outcome.Failure
			}
		case <-time.After(60 * time.Second):
			t.Fatal("the agent waits for ever")
		}
	}
}

func TestRankWithoutAnAddressIsNamed(t *testing.T) {
	phase.Long(t)
	_, reports := lonely(t, 6*time.Second) // it is waited for so long, and a connection's time
	f := outcomeOf(t, reports, "l")
	if f.Rank != 1 || f.Phase != "connect" || f.Cause != "addresses: waiting for rank 1" {
		t.Errorf("got %+v", f)
	}
}

func TestRankThatDoesNotComeToTheBarrierIsNamed(t *testing.T) {
	phase.Long(t)
	session, reports := lonely(t, 30*time.Second)
	meeting, err := session.Meet(t.Context(), "l", "n2", []int{1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer meeting.Close()
	if err := meeting.Publish(t.Context(), map[int][]byte{1: []byte("none")}); err != nil {
		t.Fatal(err)
	}
	var address string
	for address == "" {
		<-meeting.Changed()
		if text := meeting.Addresses(); text != nil {
			all, err := wire.DecodePeers(text, 2)
			if err != nil {
				t.Fatal(err)
			}
			address = string(all[0])
		}
	}
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	f := outcomeOf(t, reports, "l")
	if f.Rank != 1 || f.Phase != "connect" || f.Cause != "connections: waiting for rank 1" {
		t.Errorf("got %+v", f)
	}
}

func TestTaskThatMakesNoSenseIsRefused(t *testing.T) {
	session, reports := lonely(t, 30*time.Second)
	if err := session.Place(t.Context(), "nonsense", map[string][]byte{"n1": []byte("nonsense")}); err != nil {
		t.Fatal(err)
	}
	if f := outcomeOf(t, reports, "nonsense"); !strings.Contains(f.Cause, "signature") {
		t.Errorf("got %+v", f)
	}
}

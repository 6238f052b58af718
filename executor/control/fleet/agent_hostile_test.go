package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/agent"
	"github.com/weir-bench/weir/executor/control/link"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/launcher"
	"github.com/weir-bench/weir/test/lab/mutate"
	"github.com/weir-bench/weir/test/phase"
)

// howMany messages a test makes; WEIR_HOSTILE says how many it is to be instead.
func howMany(t *testing.T, otherwise int) int {
	t.Helper()
	text := os.Getenv("WEIR_HOSTILE")
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n / 5
}

func authority(t testing.TB) *link.Authority {
	t.Helper()
	a, err := link.NewAuthority("test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issued(t testing.TB, a *link.Authority, role link.Role, name string) link.Identity {
	t.Helper()
	i, err := a.Issue(role, name, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// Whatever is written where agents look for invitations, nothing of it runs anything: an agent calls
// at most, hears that nobody there has a coordinator's certificate of its authority, and goes on.
func TestHostileInvitationsRunNothing(t *testing.T) {
	phase.Long(t)
	ours, theirs := authority(t), authority(t)
	calls := atomic.Int64{}
	stranger, err := link.NewServer(link.ServerOptions{ // obeys its own authority, and knows ours
		Credentials: func() (link.Identity, error) {
			calls.Add(1)
			i := issued(t, theirs, link.Coordinator, "c1")
			i.CA = append(i.CA, issued(t, ours, link.Agent, "n1").CA...)
			return i, nil
		},
		Session: "s", Take: func(string, link.Message) error { t.Error("an agent has sent a report"); return nil },
		Up: func(string, string) error { t.Error("an agent has come"); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	at, err := stranger.Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(t.TempDir(), "mark")
	var said atomic.Int64
	d := &daemon{
		sessions: map[string]context.CancelFunc{}, refused: map[string]bool{}, answer: func(string, string) {},
		AgentOptions: AgentOptions{
			Options: agent.Options{
				Node: "n1", RankCommand: []string{"touch", mark}, ProbeCommand: []string{"touch", mark},
			},
			State: t.TempDir(), Commands: true, Credentials: issued(t, ours, link.Agent, "n1").Fixed(),
			Say: func(string) { said.Add(1) },
		},
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	g := mutate.New(1, Invitation{Coordinator: []string{at.String()}}.Encode(), []byte(`{"coordinator":[]}`))
	all, begun := howMany(t, 5_000), time.Now()
	for i := range all {
		session := fmt.Sprintf("s%d", i%(2*mostSessions))
		d.invited(ctx, registry.Invitation{Session: session, Body: bytes.Clone(g.Next())})
		if i%7 == 0 {
			d.invited(ctx, registry.Invitation{Session: session, Gone: true})
		}
	}
	for calls.Load() < 2 && time.Since(begun) < 20*time.Second { // the test shows nothing unless it was called
		d.invited(ctx, registry.Invitation{Session: "g", Body: Invitation{Coordinator: []string{at.String()}}.Encode()})
		time.Sleep(10 * time.Millisecond)
		d.invited(ctx, registry.Invitation{Session: "g", Gone: true})
	}
	end()
	d.wg.Wait()
	if calls.Load() < 2 || len(d.sessions) > 0 {
		t.Errorf("the stranger was called %d times, %d sessions are under way", calls.Load(), len(d.sessions))
	}
	// in each span, a few are reported, twice: by the invitation and as what was left out
	if most := 2 * limitMost * (2 + int64(time.Since(begun)/limitSpan)); said.Load() > most {
		t.Errorf("it said %d lines, at most %d may be", said.Load(), most)
	}
	for _, dir := range []string{d.State, filepath.Dir(mark)} {
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("in %s: %v %v", dir, files, err)
		}
	}
}

// closer is where a bootstrapped agent would write.
type closer struct{ io.Writer }

func (closer) Close() error { return nil }

// bootstraps are documents that agents are started with.
func bootstraps(t testing.TB) (all [][]byte) {
	t.Helper()
	a := authority(t)
	b := launcher.Bootstrap{
		Session: "s", Node: "n1", Identity: issued(t, a, link.Agent, "n1"), Coordinator: []string{"10.0.0.1:7000"},
	}
	stdio := b
	stdio.Coordinator = []string{launcher.Stdio}
	for _, b := range []launcher.Bootstrap{b, stdio} {
		text, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

// inherited reads a bootstrap document as an agent does, and says whether it took it.
func inherited(t testing.TB, text []byte) bool {
	t.Helper()
	var said bytes.Buffer
	b, pipe, err := Inherit(bytes.NewReader(text), closer{&said})
	if err == nil {
		if _, err := b.Encode(); err != nil {
			t.Errorf("what is taken cannot be written: %v", err)
		}
		_ = pipe.Close()
	}
	if said.Len() > 0 {
		t.Errorf("it was answered %q", said.Bytes())
	}
	return err == nil
}

// Whatever an agent is started with instead of a bootstrap document, it reads no more of
// it than one may have, takes nothing that could not have been written, and says nothing.
func TestHostileBootstrapsAreRefused(t *testing.T) {
	phase.Long(t)
	g, taken, all := mutate.New(2, bootstraps(t)...), 0, howMany(t, 20_000)
	for range all {
		if inherited(t, g.Next()) {
			taken++
		}
	}
	if taken == 0 || taken > all/2 { // those that are as they were, or differ in a letter of a name
		t.Errorf("%d of %d are taken", taken, all)
	}
}

func FuzzInherit(f *testing.F) {
	for _, text := range bootstraps(f) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { inherited(t, text) })
}

func FuzzInvitation(f *testing.F) {
	f.Add(Invitation{Coordinator: []string{"127.0.0.1:1", "host:2"}}.Encode())
	f.Fuzz(func(t *testing.T, text []byte) {
		if i, err := decodeInvitation(text); err == nil && len(i.Coordinator) > mostAddresses {
			t.Errorf("%d addresses", len(i.Coordinator))
		}
	})
}

// An agent takes orders in turn: the setup first, the others when it has joined, and none at its end.
func TestOrdersInTurn(t *testing.T) {
	message := func(o agent.Order) link.Message {
		head, body, err := o.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return link.Message{Head: head, Body: body}
	}
	setup, task := message(agent.Order{Setup: &agent.Setup{}}), message(agent.Order{Task: "t", Withdraw: true})
	a := agent.New(agent.Options{Node: "n1", Session: "s", LogDir: t.TempDir(), ScratchDir: t.TempDir()})
	defer a.Close()
	o := newOrders()
	for i, step := range []struct {
		m    link.Message
		want bool
	}{{task, false}, {link.Message{Head: []byte("x")}, false}, {setup, true}, {setup, false}, {task, false}} {
		if err := o.take(step.m); (err == nil) != step.want {
			t.Errorf("step %d: %v", i, err)
		}
	}
	o.pass(a)
	if err := errors.Join(o.take(task), o.take(task)); err != nil {
		t.Error(err)
	}
	if err := o.take(setup); err == nil {
		t.Error("it is set up twice")
	}
	o.stop()
	if err := o.take(task); err != nil {
		t.Errorf("at the end: %v", err)
	}
}

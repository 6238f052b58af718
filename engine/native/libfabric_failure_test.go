package native

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// killablePair is rank 0 of a launch in this process and rank 1 in a process of its own, which can be killed.
type killablePair struct {
	rank      *rank
	control   *engine.Control
	launch    engine.Launch
	addresses [][]byte
	other     *rankProcess
}

func newKillablePair(t *testing.T, fabric string, o move.Spec, timeout time.Duration) *killablePair {
	t.Helper()
	p := &killablePair{control: control(t), launch: engine.Launch{Fabric: fabric, Ranks: 2, Nodes: []string{"a", "a"},
		Cases: []engine.Case{caseOf("a", o, timeout, 0)}}}
	p.other = startRank(t, t.Context(), p.launch, engine.Identity{Rank: 1})
	t.Cleanup(p.kill)
	theirs, err := hex.DecodeString(p.other.address(t))
	if err != nil {
		t.Fatal(err)
	}
	if p.rank, err = open(p.launch, engine.Identity{Rank: 0}, p.control); err != nil {
		t.Fatal(err)
	}
	ours, err := p.rank.Address()
	if err != nil {
		t.Fatal(err)
	}
	p.addresses = [][]byte{ours, theirs}
	return p
}

func (p *killablePair) connect(t *testing.T) {
	t.Helper()
	fmt.Fprintln(p.other.in, hex.EncodeToString(p.addresses[0]), hex.EncodeToString(p.addresses[1]))
	if err := p.rank.Connect(p.addresses); err != nil {
		t.Fatal(err)
	}
}

func (p *killablePair) kill() { _ = p.other.end() } // it was killed; the second time it has already ended

// A peer killed in mid-stream ends the case with an error that names it, long before the case's deadline if
// the provider notices, else at the deadline.
func TestLibfabricKilledPeer(t *testing.T) {
	phase.Long(t)
	for _, name := range providers(t) {
		if name == "shm" {
			// it waits in a spin lock in shared memory, which may have died with its holder: only weir's
			// agent ends that (run_killed_rank.txtar)
			continue
		}
		for op, how := range map[string]func(*move.Spec){
			"write": func(*move.Spec) {}, "read": read, "pingpong": pingpong,
		} {
			t.Run(name+"/"+op, func(t *testing.T) {
				o := options(64<<10, provider(name), how, func(o *move.Spec) { o.Iterations, o.Warmup = 1<<30, 0 })
				timeout := 20 * time.Second
				if mayTimeOut(name, op) {
					timeout = time.Second
				}
				for !killedOverLibfabric(t, o, timeout) {
					if timeout *= 2; timeout > patience {
						t.Fatal("it never came to the stream")
					}
				}
			})
		}
	}
}

// mayTimeOut returns whether the case may end only at its deadline.
func mayTimeOut(provider, op string) bool {
	return provider == "sockets" && op == "write" || provider != "sockets" && op == "pingpong"
}

// killedOverLibfabric kills the peer; false: its case ended before it moved anything.
func killedOverLibfabric(t *testing.T, o move.Spec, timeout time.Duration) bool {
	t.Helper()
	p := newKillablePair(t, "libfabric", o, timeout)
	p.connect(t)
	done := make(chan error, 1)
	go func() {
		_, err := p.rank.measure(p.launch.Cases[0].Key)
		done <- err
	}()
	if err, ok := awaitTimedPart(done, p.control, p.other.control); !ok {
		p.kill()
		failUnlessTimedOut(t, timeout, fmt.Sprint(err, "; ", &p.other.words))
		return false
	}
	killed := time.Now()
	p.kill()
	select {
	case err := <-done:
		var e *engine.Error
		if !errors.As(err, &e) || e.Peer != 1 &&
			!strings.Contains(e.Text, fmt.Sprintf("timed out after %.3g s", timeout.Seconds())) {
			t.Errorf("got %v, want peer 1 named, or the deadline", err)
		}
		t.Logf("after %v: %v", time.Since(killed).Round(time.Millisecond), err)
	case <-time.After(timeout + 35*time.Second):
		t.Fatal("hangs")
	}
	return true
}

// Connecting to addresses of dead peers ends within its deadline.
func TestLibfabricDeadAddress(t *testing.T) {
	phase.Long(t)
	usual := connectTimeout
	t.Cleanup(func() { connectTimeout = usual })
	connectTimeout = 3 * time.Second // some wait that long
	for _, name := range providers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each may wait for its deadline
			p := newKillablePair(t, "libfabric", options(8, provider(name)), time.Second)
			p.kill()
			begin := time.Now()
			err := p.rank.Connect(p.addresses)
			var e *engine.Error
			if !errors.As(err, &e) || e.Phase != "connect" || e.Peer != 1 {
				t.Errorf("got %+v, want an error of connecting that names peer 1", err)
			}
			t.Logf("after %v: %v", time.Since(begin).Round(time.Millisecond), err)
			if took := time.Since(begin); took > connectTimeout+35*time.Second {
				t.Errorf("gave up after %v", took)
			}
		})
	}
}

package native

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"weir/engine"
	"weir/workload"
)

// lonelyPair is rank 0 of a launch in this process and rank 1 in a process of its
// own, which can be killed.
type lonelyPair struct {
	rank      engine.Rank
	control   *engine.Control
	launch    engine.Launch
	addresses [][]byte
	child     *exec.Cmd
	in        io.Writer
}

func newLonelyPair(t *testing.T, o workload.TransferOptions, timeout time.Duration) *lonelyPair {
	t.Helper()
	p := &lonelyPair{control: control(t), launch: engine.Launch{Fabric: "libfabric", Ranks: 2, Nodes: []string{"a", "a"},
		Cases: []engine.Case{{Key: "a", Options: o, Timeout: int64(timeout)}}}}
	spec, err := json.Marshal(benchSpec{p.launch, engine.Identity{Rank: 1}})
	if err != nil {
		t.Fatal(err)
	}
	p.child = exec.Command(os.Args[0])
	p.child.Env = append(os.Environ(), benchRankEnv+"="+string(spec))
	p.child.Stderr = io.Discard // it is killed, and may say so
	in, err1 := p.child.StdinPipe()
	out, err2 := p.child.StdoutPipe()
	if err := errors.Join(err1, err2, p.child.Start()); err != nil {
		t.Fatal(err)
	}
	p.in = in
	t.Cleanup(func() { p.kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("rank 1 has no address: %v", err)
	}
	theirs, err := hex.DecodeString(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if p.rank, err = (native{}).Open(p.launch, engine.Identity{Rank: 0}, p.control); err != nil {
		t.Fatal(err)
	}
	ours, err := p.rank.Address()
	if err != nil {
		t.Fatal(err)
	}
	p.addresses = [][]byte{ours, theirs}
	return p
}

func (p *lonelyPair) connect(t *testing.T) {
	t.Helper()
	fmt.Fprintln(p.in, hex.EncodeToString(p.addresses[0]), hex.EncodeToString(p.addresses[1]))
	if err := p.rank.Connect(p.addresses); err != nil {
		t.Fatal(err)
	}
}

func (p *lonelyPair) kill() {
	_ = p.child.Process.Kill() // the second time it is gone already
	_ = p.child.Wait()
}

// A peer that is killed in mid-stream ends the case with an error that names it, long
// before the case's own deadline where the provider notices, else at the deadline.
func TestLibfabricKilledPeer(t *testing.T) {
	takesLong(t)
	const timeout = 3 * time.Second
	for _, name := range providers(t) {
		if name == "shm" {
			continue // it waits in a spin lock in shared memory, which may have died with its holder: only weir's agent ends that (run_killed_rank.txtar)
		}
		for op, how := range map[string]func(*workload.TransferOptions){"write": func(*workload.TransferOptions) {}, "read": read, "pingpong": pingpong} {
			t.Run(name+"/"+op, func(t *testing.T) {
				p := newLonelyPair(t, options(64<<10, provider(name), how, func(o *workload.TransferOptions) { o.Iterations, o.Warmup = 1<<30, 0 }), timeout)
				p.connect(t)
				done := make(chan error, 1)
				go func() {
					_, err := p.rank.Run(p.launch.Cases[0])
					done <- err
				}()
				for p.control.Phase.Load() != engine.PhaseRun {
					select {
					case err := <-done:
						t.Fatalf("before the kill: %v", err)
					case <-time.After(time.Millisecond):
					}
				}
				time.Sleep(20 * time.Millisecond) // into the stream
				killed := time.Now()
				p.kill()
				select {
				case err := <-done:
					var e *engine.Error
					if !errors.As(err, &e) || e.Peer != 1 && !strings.Contains(e.Text, "the time of 3 s is up") {
						t.Errorf("got %v, want peer 1 named, or the deadline", err)
					}
					t.Logf("after %v: %v", time.Since(killed).Round(time.Millisecond), err)
				case <-time.After(timeout + 5*time.Second):
					t.Fatal("hangs")
				}
			})
		}
	}
}

// Addresses at which nobody is any more end the connecting within its deadline.
func TestLibfabricDeadAddress(t *testing.T) {
	for _, name := range providers(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // each may wait for its deadline
			p := newLonelyPair(t, options(8, provider(name)), time.Second)
			p.kill()
			begin := time.Now()
			err := p.rank.Connect(p.addresses)
			var e *engine.Error
			if !errors.As(err, &e) || e.Phase != "connect" || e.Peer != 1 {
				t.Errorf("got %+v, want an error of connecting that names peer 1", err)
			}
			t.Logf("after %v: %v", time.Since(begin).Round(time.Millisecond), err)
			if took := time.Since(begin); took > connectTimeout+5*time.Second {
				t.Errorf("gave up after %v", took)
			}
		})
	}
}

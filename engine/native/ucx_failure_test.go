package native

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// A peer killed in mid-stream ends the case with an error that names it, or at the deadline if UCX does not
// notice. UCX 1.13 itself aborts over cma, and sometimes over tcp, with its own message: the agent handles
// the loss of a rank's process.
func TestUCXKilledPeer(t *testing.T) {
	phase.Long(t)
	overUCX(t, func(t *testing.T, name string) {
		for how, change := range map[string]func(*move.Spec){
			"small": func(o *move.Spec) { o.BlockSize = 64 }, "large": func(*move.Spec) {}, "pingpong": pingpong,
		} {
			t.Run(how, func(t *testing.T) {
				endless := func(o *move.Spec) { o.Iterations, o.Warmup, o.Verify = 1<<30, 0, "none" }
				o := options(1<<20, api(name), change, endless)
				// short, because many cases run into it; longer if the case ends before the kill
				timeout := 500 * time.Millisecond
				for !killedOverUCX(t, o, timeout) {
					if timeout *= 2; timeout > patience {
						t.Fatal("it never came to the stream")
					}
				}
			})
		}
	}, overQueue, overKernel, overSockets)
}

// killedOverUCX kills rank 1 of two; false: the launch ended before they moved anything.
func killedOverUCX(t *testing.T, o move.Spec, timeout time.Duration) bool {
	t.Helper()
	l := engine.Launch{
		Fabric: "ucx", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{caseOf("a", o, timeout, 0)},
	}
	var ranks []*rankProcess
	for i := range l.Ranks {
		ranks = append(ranks, startRank(t, t.Context(), l, engine.Identity{Rank: i}))
	}
	meet(t, ranks)
	ended := make(chan error, 1)
	go func() { ended <- ranks[0].cmd.Wait() }()
	if err, ok := awaitTimedPart(ended, ranks[0].control, ranks[1].control); !ok {
		other := ranks[1].end()
		failUnlessTimedOut(t, timeout, fmt.Sprint(err, ": ", &ranks[0].words, "; ", other, ": ", &ranks[1].words))
		return false
	}
	killed := time.Now()
	_ = ranks[1].end() // it was killed
	select {
	case err := <-ended:
		words := ranks[0].words.String()
		if err == nil || words == "" {
			t.Errorf("ended with %v and the words %q", err, words)
		}
		t.Logf("after %v: %v: %s", time.Since(killed).Round(time.Millisecond), err, words)
	case <-time.After(connectTimeout + timeout + 30*time.Second):
		t.Fatal("hangs")
	}
	return true
}

// UCX reports no unexpected messages and no leaked requests when it ends, even if every note is a rendezvous.
func TestUCXLeavesNothingBehind(t *testing.T) {
	phase.Long(t)
	overUCX(t, func(t *testing.T, name string) {
		log := t.TempDir() + "/log"
		t.Setenv("UCX_LOG_FILE", log)
		for _, o := range []move.Spec{
			options(8, api(name)), options(100000, api(name)), options(8, pingpong, api(name)),
		} {
			l := engine.Launch{
				Fabric: "ucx", Ranks: 2, Nodes: []string{"a", "a"},
				Cases: []engine.Case{caseOf("a", o, patience, patience)},
			}
			var ranks []*rankProcess
			for i := range l.Ranks {
				ranks = append(ranks, startRank(t, t.Context(), l, engine.Identity{Rank: i}))
			}
			meet(t, ranks)
			for i, p := range ranks {
				if err := p.cmd.Wait(); err != nil {
					t.Errorf("rank %d: %v\n%s", i, err, &p.words)
				}
				text, err := os.ReadFile(log)
				if err != nil || len(text) > 0 {
					t.Errorf("rank %d: UCX logged %v\n%s", i, err, text)
				}
			}
		}
	}, overQueue, overSockets, announced)
}

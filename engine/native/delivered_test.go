package native

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// The timed end of a write is its delivery, not its hand-over: with a stopped target, no more requests
// complete than were in flight. If hand-over were timed, these small ones would complete by the thousands,
// because sockets buffer them.
func TestWriteIsCompleteWhenItIsDelivered(t *testing.T) {
	phase.Long(t)
	defer stampOneIn(1)() // unstamped ones are not awaited where the fabric does not confirm delivery
	const inFlight = 4
	endless := func(o *move.Spec) {
		o.Iterations, o.Warmup, o.Verify, o.InFlight = 1<<30, 0, "none", inFlight
	}
	check := func(name, fabric string, env map[string]string, o move.Spec) {
		t.Run(name, func(t *testing.T) {
			needs(t, fabric)
			for k, v := range env {
				t.Setenv(k, v)
			}
			p := newKillablePair(t, fabric, o, patience)
			p.connect(t)
			done := make(chan error, 1)
			go func() {
				_, err := p.rank.measure(p.launch.Cases[0].Key)
				done <- err
			}()
			if err, ok := awaitTimedPart(done, p.control, p.other.control); !ok {
				t.Fatal(err, &p.other.words)
			}
			for p.control.Done.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			stop(t, p.other.cmd.Process.Pid)
			before := p.control.Done.Load()
			time.Sleep(300 * time.Millisecond)
			if more := p.control.Done.Load() - before; more > 2*inFlight { // the count may be one poll old
				t.Errorf("%d more requests were complete while the target stood still, after %d before", more, before)
			}
			p.control.Abort.Store(1)
			if err := <-done; err == nil || !strings.Contains(err.Error(), "told to stop") {
				t.Errorf("got %v", err)
			}
		})
	}
	check("tcp", "tcp", nil, options(64, endless))
	for _, name := range []string{"rma", "am", "tag", "tag_sync"} {
		check("ucx "+name, "ucx", overSockets, options(64, endless, api(name)))
	}
	check("ucx am queue", "ucx", overQueue, options(64, endless, api("am")))
	for _, name := range providers(t) {
		if name != "shm" { // the memory is the target's own, and a signal could stop it while it holds a lock
			check("libfabric "+name, "libfabric", nil, options(64, endless, provider(name)))
		}
	}
}

// stop stops a process with all its threads.
func stop(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for still := false; !still; {
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		still = len(threads) > 0
		for _, name := range threads {
			text, _ := os.ReadFile(name) // an ended process counts as stopped
			if i := strings.LastIndexByte(string(text), ')'); i >= 0 && !strings.HasPrefix(string(text[i+1:]), " T") {
				still = false
			}
		}
	}
}

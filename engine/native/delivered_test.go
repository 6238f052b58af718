package native

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"weir/test/phase"
	"weir/workload/move"
)

// What is timed of a write is that it is at the target and not that it was handed over:
// with a target that stands still, no more requests are complete than were in flight.
// With only their handing over timed, these small ones would be complete by the thousands,
// because sockets have room for them.
func TestWriteIsCompleteWhenItIsDelivered(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	defer stampOneIn(1)() // an unstamped one is not waited for where the fabric does not confirm delivery
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
			p := newLonelyPair(t, fabric, o, patience)
			p.connect(t)
			done := make(chan error, 1)
			go func() {
				_, err := p.rank.measure(p.launch.Cases[0].Key)
				done <- err
			}()
			if err, ok := inStream(done, p.control, p.other.control); !ok {
				t.Fatal(err, &p.other.words)
			}
			for p.control.Done.Load() == 0 {
				time.Sleep(time.Millisecond)
			}
			stop(t, p.other.cmd.Process.Pid)
			before := p.control.Done.Load()
			time.Sleep(300 * time.Millisecond)
			if more := p.control.Done.Load() - before; more > 2*inFlight { // the count may be one turn old
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
		if name != "shm" { // the memory is the target's own, and a signal keeps it from its lock
			check("libfabric "+name, "libfabric", nil, options(64, endless, provider(name)))
		}
	}
}

// stop has a process stand still, with all its threads.
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
			text, _ := os.ReadFile(name) // one that has ended stands still
			if i := strings.LastIndexByte(string(text), ')'); i >= 0 && !strings.HasPrefix(string(text[i+1:]), " T") {
				still = false
			}
		}
	}
}

package native

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

func sleeping(o *move.Spec) { o.Wait = "sleep" }

// overSleepers runs a test with everything that can wake a rank.
func overSleepers(t *testing.T, test func(t *testing.T, fabric string, how func(*move.Spec))) {
	t.Run("ucx", func(t *testing.T) {
		overUCX(t, func(t *testing.T, name string) { test(t, "ucx", api(name)) }, overQueue,
			map[string]string{"UCX_TLS": "tcp"}, announced)
	})
	t.Run("libfabric", func(t *testing.T) {
		for _, p := range providers(t) {
			t.Run(p, func(t *testing.T) {
				if _, err := tryCases(t, "libfabric", 2, options(8, provider(p), sleeping)); err != nil &&
					strings.Contains(err.Error(), "wait sleep needs events with a file descriptor") {
					t.Skip(err)
				}
				test(t, "libfabric", provider(p))
			})
		}
	})
}

// A blocked rank is woken by everything that a rank can wait for: requests in both directions, their
// delivery, messages, and barriers.
func TestSleepersMoveEveryByte(t *testing.T) {
	phase.Long(t)
	overSleepers(t, func(t *testing.T, fabric string, how func(*move.Spec)) {
		few := func(o *move.Spec) { o.Iterations, o.Warmup = 30, 3 }
		cases := []move.Spec{
			options(1, how, sleeping), options(4097, how, sleeping, full, batch4, few),
			options(1<<20+1, how, sleeping, full, few), options(8, how, sleeping, pingpong),
			options(300000, how, sleeping, full, pingpong, few),
		}
		if fabric == "libfabric" {
			cases = append(cases, options(70000, how, sleeping, full, read, few))
		}
		checkTransfer(t, fabric, shortened(cases[0].FabricOptions["provider"], cases))
	})
}

func TestSleepersInARing(t *testing.T) {
	phase.Long(t)
	overSleepers(t, func(t *testing.T, fabric string, how func(*move.Spec)) {
		o := options(5000, how, sleeping, full, func(o *move.Spec) {
			o.Ranks, o.Pattern, o.Iterations, o.Warmup = 3, "ring", 20, 2
		})
		for _, r := range runCases(t, fabric, 3, o)[0] {
			if !r.Verified {
				t.Errorf("rank %d is not verified", r.Rank)
			}
		}
	})
}

// waitWithoutPeer runs a rank without its peer and returns the processor time of the busiest thread.
func waitWithoutPeer(t *testing.T, fabric string, o move.Spec, deadline time.Duration) (time.Duration, error) {
	l := engine.Launch{
		Fabric: fabric, Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{caseOf("a", o, deadline, 0)},
	}
	ranks, err := connectedPair(t, l)
	if err != nil {
		t.Fatal(err)
	}
	before := threadTimes(t)
	_, err = ranks[0].measure(l.Cases[0].Key)
	most := time.Duration(0)
	for id, used := range threadTimes(t) {
		most = max(most, used-before[id])
	}
	return most, err
}

// threadTimes returns the processor times of this process's threads.
func threadTimes(t *testing.T) map[string]time.Duration {
	files, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil || len(files) == 0 {
		t.Skipf("the kernel does not tell the times of threads: %v", err)
	}
	out := map[string]time.Duration{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // it has ended
		}
		var n int64
		if _, err := fmt.Sscan(string(b), &n); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out[f] = time.Duration(n)
	}
	return out
}

// A blocked rank leaves the processor to others, and its deadline still ends its wait.
func TestSleepersUseNoProcessor(t *testing.T) {
	phase.Long(t)
	const deadline = 600 * time.Millisecond
	overSleepers(t, func(t *testing.T, fabric string, how func(*move.Spec)) {
		o := options(4096, how, sleeping)
		used, err := waitWithoutPeer(t, fabric, o, deadline)
		if want := "rank 1 did not reach the barrier within 0.6 s"; err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if o.FabricOptions["provider"] == "net" {
			t.Skip("its file has something to read at all times in libfabric 1.17: a rank that wants to sleep looks all the time")
		}
		if used > deadline/4 {
			t.Errorf("%v of processor time in a wait of %v", used, deadline)
		}
	})
}

func TestWhatNothingWakesDoesNotSleep(t *testing.T) {
	for fabric, want := range map[string]string{
		"shm": "fabric shm has no wait sleep", "tcp": "fabric tcp has no wait sleep",
		"ucx": "api rma of fabric ucx has no wait sleep",
	} {
		if _, err := tryCases(t, fabric, 2, options(8, sleeping)); err == nil ||
			!strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

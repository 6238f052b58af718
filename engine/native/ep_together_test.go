package native

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"weir/test/phase"
	"weir/workload"
)

// Threads of a rank share its steps: each byte is what one thread makes, with every fabric, layout and
// kind of put, whether threads have less than a unit each or copy a put in pieces.
func TestEPThreads(t *testing.T) {
	phase.NotUnderRace(t)
	for _, fabric := range []string{"shm", "tcp", "ucx", "libfabric"} {
		for _, layout := range epLayoutNames {
			t.Run(fabric+"/"+layout, func(t *testing.T) {
				needs(t, fabric)
				for _, v := range []workload.Values{
					{"timing": "aligned", "verify": "full", "tokens": int64(100)},
					{"timing": "stream", "tokens": int64(100)},
					{"quantise": "before", "hidden": int64(7168), "tokens": int64(70), "ranks": int64(2)},
					{"tokens": "uniform:0,30", "threads": int64(7)},
					{"mode": "combine"}, {"mode": "dispatch"},
				} {
					v["layout"] = layout
					if v["threads"] == nil {
						v["threads"] = int64(3)
					}
					checkEP(t, fabric, epValues(v))
				}
			})
		}
	}
}

// What a thread beside the rank's makes is checked too.
func TestEPThreadsFindOneWrongByte(t *testing.T) {
	phase.NotUnderRace(t)
	for _, at := range []int{16 + 200, 60 * (16 + 256 + 8)} {
		t.Setenv(CorruptEnv, fmt.Sprintf("1:%d:timed", at))
		_, err := runEP(t, "shm", epValues(workload.Values{"threads": int64(4), "tokens": int64(100)}))
		if err == nil || !strings.Contains(err.Error(), "wrong dispatch at rank 1 in iteration 4") {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// Threads end with the case, also one that fails.
func TestEPThreadsEnd(t *testing.T) {
	phase.NotUnderRace(t)
	count := func() int {
		runtime.GC()
		list, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	v := workload.Values{"threads": int64(30), "tokens": int64(100)}
	checkEP(t, "shm", epValues(v))
	before := count()
	for range 5 {
		checkEP(t, "shm", epValues(v))
	}
	if after := count(); after >= before+30 {
		t.Errorf("%d threads of this process after a launch, and %d after six", before, after)
	}
}

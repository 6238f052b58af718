package native

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/test/phase"
)

// Threads of a rank share its steps: each byte equals what one thread makes, with every fabric, layout and
// kind of put, whether threads have less than a unit each or copy a put in pieces.
func TestEPThreads(t *testing.T) {
	phase.Long(t)
	eachPath(t, func(t *testing.T, w testPath) {
		if !w.puts() || w.slow() || w.name != w.fabric && !phase.Whole() {
			t.Skip("in make rest, where it carries more than tagged messages and takes no milliseconds for each")
		}
		for k, layout := range epLayoutNames {
			for i, v := range []option.Values{
				{"timing": "aligned", "verify": "full", "tokens": int64(100)},
				{"timing": "stream", "tokens": int64(100)},
				{"quantise": "before", "hidden": int64(7168), "tokens": int64(70), "ranks": int64(2)},
				{"tokens": "uniform:0,30", "threads": int64(7)},
				{"mode": "combine"}, {"mode": "dispatch"},
			} {
				if i%len(epLayoutNames) != k && !phase.Whole() {
					continue // each has one layout in every run
				}
				maps.Copy(v, w.values())
				v["layout"] = layout
				if v["threads"] == nil {
					v["threads"] = int64(3)
				}
				checkEP(t, w.fabric, epValues(v))
			}
		}
	})
}

// Data made by a worker thread is checked too.
func TestEPThreadsFindOneWrongByte(t *testing.T) {
	for _, at := range []int{16 + 200, 60 * (16 + 256 + 8)} {
		t.Setenv(CorruptEnv, fmt.Sprintf("1:%d:timed", at))
		_, err := runEP(t, "shm", epValues(option.Values{"threads": int64(4), "tokens": int64(100)}))
		if err == nil || !strings.Contains(err.Error(), "wrong dispatch at rank 1 in iteration 4") {
			t.Errorf("byte %d: %v", at, err)
		}
	}
}

// Threads end with the case, also if it fails.
func TestEPThreadsEnd(t *testing.T) {
	count := func() int {
		runtime.GC()
		list, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	v := option.Values{"threads": int64(30), "tokens": int64(100)}
	checkEP(t, "shm", epValues(v))
	before := count()
	for range 5 {
		checkEP(t, "shm", epValues(v))
	}
	if after := count(); after >= before+30 {
		t.Errorf("%d threads of this process after a launch, and %d after six", before, after)
	}
}

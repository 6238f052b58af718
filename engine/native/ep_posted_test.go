//go:build weirtest

package native

import (
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
)

// inPostedChild returns whether a test is in the process with the fake driver, whose GPU memory libraries take for the
// host's: UCX and libfabric here have no CUDA. It runs the test there otherwise.
func inPostedChild(t *testing.T, env ...string) bool {
	t.Helper()
	phase.Rest(t)
	if os.Getenv(cudaChildEnv) == "" {
		cudaChildTest(t, t.Name(), append([]string{"FAKE_CUDA_VISIBLE=1"}, env...)...)
		return false
	}
	return true
}

// postedValues returns the options of a small case in which the host posts what kernels make.
func postedValues(layout string, changes ...option.Values) option.Values {
	v := kernelValues(option.Values{"layout": layout, "initiated": "host"})
	for _, change := range changes {
		maps.Copy(v, change)
	}
	return v
}

// Over every fabric that moves GPU memory all bytes arrive, in each layout.
func TestPostedEP(t *testing.T) {
	if !inPostedChild(t) {
		return
	}
	eachPath(t, func(t *testing.T, w testPath) {
		if !w.puts() || w.memory || w.fabric == "shm" || w.fabric == "tcp" || !w.every && !phase.AtLength() {
			t.Skip("moves no GPU memory, or is for longer tests")
		}
		for _, layout := range epLayoutNames {
			for _, timing := range []string{"aligned", "stream"} {
				checkEP(t, w.fabric, postedValues(layout, w.values(), option.Values{"timing": timing}))
			}
		}
	})
	checkEP(t, "cuda", postedValues("message"))
}

func TestPostedEPOverNIXL(t *testing.T) {
	if !inPostedChild(t, onlyPathsEnv+"=nixl", "WEIR_NIXL_LIBRARY="+fakeNixl(t), "FAKE_NIXL_POLLS=3") {
		return
	}
	for _, layout := range epLayoutNames {
		checkEP(t, "nixl", postedValues(layout, option.Values{"timing": "stream"}))
	}
	m, err := runEPControl(t, "nixl", option.Values{"memory": "vram"})
	if err != nil || m["ranks_passed"] != 4 {
		t.Errorf("%v: %v", m, err)
	}
}

func TestPostedEPWithEachOption(t *testing.T) {
	if !inPostedChild(t) {
		return
	}
	for i, change := range []option.Values{
		{"mode": "dispatch"}, {"mode": "combine"}, {"mode": "combine", "timing": "stream"},
		{"mode": "dispatch", "timing": "stream", "iterations": int64(200)},
		{"scales": "pow2"}, {"scales": "ue8m0"}, {"dispatch_dtype": "bf16"}, {"verify": "full"},
		{"quantise": "before"}, {"tokens": "uniform:0,30"}, {"routing": "hot"}, {"caches": "flushed"},
		{"iterations": int64(1), "warmup": int64(0)}, {"tokens": int64(1)}, {"masked": quantity.Percent(0.3)},
		{"ranks": int64(2), "hidden": int64(7168), "tokens": int64(5)}, {"top_k": int64(30), "tokens": int64(4)},
		{"vram_alloc": "vmm"}, {"vram_alloc": "pool"}, {"ranks": int64(7), "experts_per_rank": int64(1)},
	} {
		for k, layout := range epLayoutNames {
			if i%len(epLayoutNames) == k || phase.AtLength() {
				checkEP(t, "ucx", postedValues(layout, change))
			}
		}
	}
}

// The host's part is told apart: none of it is longer than the whole.
func TestPostedEPTellsTheHostsPart(t *testing.T) {
	if !inPostedChild(t, "FAKE_CUDA_SLOW=2000") {
		return
	}
	m, err := runEP(t, "ucx", postedValues("rank"))
	if err != nil {
		t.Fatal(err)
	}
	waited := m["phase.quantise"] + m["phase.reduce"]
	if m["phase.post"] <= 0 || m["phase.post"] > m["phase.send"] || m["phase.kernel"] <= 0 ||
		m["phase.launch"] < 0.002 || m["phase.kernel"]+m["phase.launch"] > 1.001*waited {
		t.Errorf("waited %v s: %v", waited, m)
	}
}

// Each operation is verified: stale contents are found between those that the host checks.
func TestStaleContentsOfPosts(t *testing.T) {
	if !inPostedChild(t) {
		return
	}
	defer staleKernels(-1)
	for i, iteration := range []int{1, 6} {
		for k, layout := range epLayoutNames {
			timing := []string{"aligned", "stream"}[(i+k)%2]
			staleKernels(iteration)
			_, err := runEP(t, "ucx", postedValues(layout, option.Values{"timing": timing, "iterations": int64(9)}))
			if want := fmt.Sprintf("in iteration %d of 9 back-to-back ones", iteration); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s %s: got %v, want %q", layout, timing, err, want)
			}
		}
	}
}

// A wrong byte is found, before the timed part and in it.
func TestPostedEPFindsOneWrongByte(t *testing.T) {
	if !inPostedChild(t) {
		return
	}
	for when, iteration := range map[string]string{"": "iteration 0", ":timed": "iteration 4"} {
		t.Setenv(CorruptEnv, "1:216"+when)
		_, err := runEP(t, "ucx", postedValues("message"))
		if want := "wrong dispatch at rank 1 in " + iteration; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// The control plane registers and connects GPU memory over UCX and libfabric.
func TestControlOfGPUsOverNetworks(t *testing.T) {
	if !inPostedChild(t) {
		return
	}
	for _, fabric := range []string{"ucx", "libfabric"} {
		m, err := runEPControl(t, fabric, option.Values{"memory": "vram"})
		if err != nil || m["ranks_passed"] != 4 || m["connect.avg"] <= 0 {
			t.Errorf("%s: %v: %v", fabric, m, err)
		}
	}
}

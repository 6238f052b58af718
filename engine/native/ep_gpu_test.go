package native

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/test/phase"
)

// A process cannot unload a library: tests over the fake CUDA driver run in a child process.
const cudaChildEnv = "WEIR_TEST_CUDA_CHILD"

// fakeCUDA builds the fake driver, which runs the same kernels on the host.
func fakeCUDA(t *testing.T) string {
	t.Helper()
	const dir = "testdata/cuda/"
	return library(t, "libcuda.so.1", dir+"fake_cuda.c", dir+"fake_memory.c", dir+"fake_work.c", "-lpthread")
}

// cudaChild runs a part of TestCUDAChild over the fake driver.
func cudaChild(t *testing.T, what string) { cudaChildTest(t, "TestCUDAChild/"+what) }

// cudaChildTest runs a test in such a process, with cudaChildEnv set, and with one GPU unless env says
// otherwise.
func cudaChildTest(t *testing.T, name string, env ...string) {
	t.Helper()
	rerunTests(t, "^"+strings.ReplaceAll(name, "/", "$/^")+"$",
		append([]string{cudaChildEnv + "=1", "FAKE_CUDA_DEVICES=1", "WEIR_CUDA_LIBRARY=" + fakeCUDA(t)}, env...)...)
}

// kernelValues returns the options of a small case with rows moved by kernels.
func kernelValues(change option.Values) option.Values {
	v := epValues(option.Values{"memory": "vram"})
	for name, value := range change {
		v[name] = value
	}
	return v
}

func TestCUDAChild(t *testing.T) {
	if os.Getenv(cudaChildEnv) == "" {
		t.Skip("is started by tests of kernels")
	}
	for name, changes := range map[string][]option.Values{
		"layouts": {{}, {"timing": "stream"}, {"verify": "full"}},
		"options": {
			{"mode": "dispatch"}, {"mode": "combine"}, {"mode": "combine", "timing": "stream"},
			{"mode": "dispatch", "timing": "stream", "iterations": int64(200)},
			{"scales": "pow2"}, {"scales": "ue8m0"}, {"dispatch_dtype": "bf16"},
			{"quantise": "before"}, {"tokens": "uniform:0,30"}, {"routing": "hot"}, {"sms": int64(1)},
			{"iterations": int64(1), "warmup": int64(0)}, {"tokens": int64(1)}, {"masked": quantity.Percent(0.3)},
			{"ranks": int64(2), "hidden": int64(7168), "tokens": int64(5)}, {"top_k": int64(30), "tokens": int64(4)},
			{"vram_alloc": "vmm"}, {"vram_alloc": "pool"}, {"ranks": int64(7), "experts_per_rank": int64(1)},
			{"kernel_launch": "dependent"}, {"kernel_launch": "graph", "timing": "stream"}, {"caches": "flushed"},
			{"kernel_launch": "graph_dependent", "timing": "stream"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for k, layout := range epLayoutNames {
				for i, change := range changes {
					if name == "options" && i%len(epLayoutNames) != k && !phase.AtLength() {
						continue // each option has one layout in every run, and all of them at length
					}
					t.Run(fmt.Sprintf("%s/%d", layout, i), func(t *testing.T) {
						v := kernelValues(change)
						v["layout"] = layout
						checkEP(t, "cuda", v)
					})
				}
			}
		})
	}
}

// The control plane of GPU memory: created, connected, disconnected and recreated.
func TestEPControlOfGPUs(t *testing.T) {
	phase.Long(t)
	cudaChildTest(t, "TestEPControlOfGPUsChild")
}

func TestEPControlOfGPUsChild(t *testing.T) {
	if os.Getenv(cudaChildEnv) == "" {
		t.Skip("is started by TestEPControlOfGPUs")
	}
	for _, alloc := range []string{"device", "vmm", "pool"} {
		m, err := runEPControl(t, "cuda", option.Values{"memory": "vram", "vram_alloc": alloc})
		if err != nil {
			t.Fatalf("%s: %v", alloc, err)
		}
		if m["ranks_passed"] != 4 || m["init.alloc"] <= 0 || m["connect.avg"] <= 0 || m["reconnect.avg"] <= 0 {
			t.Errorf("%s: %v", alloc, m)
		}
	}
	if _, err := runEPControl(t, "cuda", option.Values{"memory": "vram", "cuda_engine": "sm"}); err != nil {
		t.Fatal(err)
	}
	t.Setenv(CorruptEnv, "2:64")
	if _, err := runEPControl(t, "cuda", option.Values{"memory": "vram"}); err == nil ||
		!strings.Contains(err.Error(), "from rank 1 over the connection is wrong from byte 0 on") {
		t.Errorf("a flipped byte: %v", err)
	}
}

// Kernels put data at the same offsets as the host implementation, byte for byte.
func TestKernelsOfEP(t *testing.T) {
	phase.Rest(t)
	cudaChild(t, "layouts")
}

func TestKernelsOfEPWithEachOption(t *testing.T) {
	phase.Rest(t)
	cudaChild(t, "options")
}

// GPUs before Hopper have no dependent launches; that is an error, not a silent fallback.
func TestDependentKernelsOfOlderGPUs(t *testing.T) {
	phase.Rest(t)
	if os.Getenv(cudaChildEnv) == "" {
		cudaChildTest(t, t.Name(), "FAKE_CUDA_CAPABILITY=80")
		return
	}
	for launch, want := range map[string]string{
		"graph": "", "dependent": "compute capability 9.0", "graph_dependent": "compute capability 9.0",
	} {
		_, err := runEP(t, "cuda", kernelValues(option.Values{"timing": "stream", "kernel_launch": launch}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", launch, err, want)
		}
	}
}

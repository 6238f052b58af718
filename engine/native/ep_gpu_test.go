package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/quantity"
	"weir/test/phase"
	"weir/workload"
)

// A library that a process has loaded stays loaded: what runs over the stand-in of the CUDA driver
// runs in a process of its own.
const cudaChildEnv = "WEIR_TEST_CUDA_CHILD"

// fakeCUDA builds the stand-in, which runs the same kernels on the host.
func fakeCUDA(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc here")
	}
	lib := filepath.Join(t.TempDir(), "libcuda.so.1")
	args := []string{"-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-O1", "-fPIC", "-shared", "-o", lib}
	for _, name := range []string{"fake_cuda.c", "fake_memory.c", "fake_work.c"} {
		args = append(args, "testdata/cuda/"+name)
	}
	if out, err := exec.Command("gcc", append(args, "-lpthread")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return lib
}

// cudaChild runs a part of TestCUDAChild over the stand-in.
func cudaChild(t *testing.T, what string) { cudaChildTest(t, "TestCUDAChild/"+what) }

// cudaChildTest runs a test in such a process, where cudaChildEnv is set, with one GPU if env does not say more.
func cudaChildTest(t *testing.T, name string, env ...string) {
	t.Helper()
	pattern := "^" + strings.ReplaceAll(name, "/", "$/^") + "$"
	cmd := exec.Command(os.Args[0], "-test.run="+pattern, "-test.v", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), cudaChildEnv+"=1", "FAKE_CUDA_DEVICES=1", "WEIR_CUDA_LIBRARY="+fakeCUDA(t))
	cmd.Env = append(cmd.Env, env...)
	out, _ := cmd.CombinedOutput() // what it printed says whether it failed
	if !strings.Contains(string(out), "--- PASS: "+name+" ") {
		t.Fatalf("%s:\n%s", name, out)
	}
}

// kernelValues are those of a small case whose rows are moved by kernels.
func kernelValues(change workload.Values) workload.Values {
	v := epValues(workload.Values{"memory": "vram"})
	for name, value := range change {
		v[name] = value
	}
	return v
}

func TestCUDAChild(t *testing.T) {
	if os.Getenv(cudaChildEnv) == "" {
		t.Skip("is started by tests of kernels")
	}
	for name, changes := range map[string][]workload.Values{
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

// The control plane of memory of GPUs, made, connected, taken apart and made again.
func TestEPControlOfGPUs(t *testing.T) {
	phase.NotUnderRace(t)
	cudaChildTest(t, "TestEPControlOfGPUsChild")
}

func TestEPControlOfGPUsChild(t *testing.T) {
	if os.Getenv(cudaChildEnv) == "" {
		t.Skip("is started by TestEPControlOfGPUs")
	}
	for _, alloc := range []string{"device", "vmm", "pool"} {
		m, err := runEPControl(t, "cuda", workload.Values{"memory": "vram", "vram_alloc": alloc})
		if err != nil {
			t.Fatalf("%s: %v", alloc, err)
		}
		if m["ranks_passed"] != 4 || m["init.alloc"] <= 0 || m["connect.avg"] <= 0 || m["reconnect.avg"] <= 0 {
			t.Errorf("%s: %v", alloc, m)
		}
	}
	if _, err := runEPControl(t, "cuda", workload.Values{"memory": "vram", "cuda_engine": "sm"}); err != nil {
		t.Fatal(err)
	}
	t.Setenv(CorruptEnv, "2:64")
	if _, err := runEPControl(t, "cuda", workload.Values{"memory": "vram"}); err == nil ||
		!strings.Contains(err.Error(), "from rank 1 over the connection is wrong from byte 0 on") {
		t.Errorf("a flipped byte: %v", err)
	}
}

// What kernels move comes to the places that the host's runner has, and is the same, byte for byte.
func TestKernelsOfEP(t *testing.T) {
	phase.NotUnderRace(t)
	cudaChild(t, "layouts")
}

func TestKernelsOfEPWithEachOption(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	cudaChild(t, "options")
}

// GPUs before Hopper launch no kernel before the one before has ended, which is said and not measured as if they did.
func TestDependentKernelsOfOlderGPUs(t *testing.T) {
	phase.NotUnderRace(t)
	if os.Getenv(cudaChildEnv) == "" {
		cudaChildTest(t, t.Name(), "FAKE_CUDA_CAPABILITY=80")
		return
	}
	for launch, want := range map[string]string{
		"graph": "", "dependent": "compute capability 9.0", "graph_dependent": "compute capability 9.0",
	} {
		_, err := runEP(t, "cuda", kernelValues(workload.Values{"timing": "stream", "kernel_launch": launch}))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", launch, err, want)
		}
	}
}

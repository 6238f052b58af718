package native

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
)

// A process cannot unload a library: each test of GPUs runs in a child process, which prints the result.
const gpuChildEnv = "WEIR_TEST_GPU_CHILD"

func TestGPUChild(t *testing.T) {
	if os.Getenv(gpuChildEnv) == "" {
		t.Skip("is started by the tests of GPUs")
	}
	list, reason := native{}.GPUs()
	used, same := native{}.GPUMemory()
	again, _ := native{}.GPUMemory()
	if same != reason || !slices.Equal(used, again) {
		t.Fatalf("%v, then %v: %q instead of %q", used, again, same, reason)
	}
	text, err := json.Marshal(gpusFound{list, used, reason})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("TOLD " + string(text))
}

type gpusFound struct {
	GPUs   []results.GPU
	Memory []engine.GPUMemory
	Reason string
}

// gpusBy queries a fake management library built with these flags.
func gpusBy(t *testing.T, env string, flags ...string) gpusFound {
	t.Helper()
	path := library(t, "libnvidia-ml.so.1", append([]string{"testdata/nvml/fake_nvml.c"}, flags...)...)
	return askGPUs(t, "LD_LIBRARY_PATH="+filepath.Dir(path), "FAKE_NVML="+env)
}

func askGPUs(t *testing.T, env ...string) (found gpusFound) {
	t.Helper()
	out := rerunTests(t, "^TestGPUChild$", append(env, gpuChildEnv+"=1")...)
	_, text, _ := strings.Cut(out, "TOLD ")
	text, _, _ = strings.Cut(text, "\n")
	if err := json.Unmarshal([]byte(text), &found); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return found
}

// Reported properties are in the document; unsupported ones are absent, and a GPU that does not answer has
// that as its fault.
func TestGPUs(t *testing.T) {
	phase.Long(t)
	none, two := 0, 2
	server := results.GPU{
		Name: "NVIDIA H200", Driver: "570.86.15", Bus: "0000:41:00.0", Memory: 150754820096, ECC: "on",
		Clocks: &results.GPUClocks{SM: 345, SMMax: 1980, Memory: 3201, MemoryMax: 3201},
		Power:  &results.GPUPower{Limit: 600, Default: 700},
		NVLink: &results.NVLink{Links: 18, Up: 17}, Processes: &none,
	}
	small := results.GPU{Name: "NVIDIA T400", Driver: "570.86.15", Bus: "0000:81:00.0", Memory: 2 << 30}
	usedBy := func(bytes int64) []engine.GPUMemory {
		return []engine.GPUMemory{{Bus: server.Bus, Used: bytes}, {Bus: small.Bus}}
	}
	if diff := cmp.Diff(gpusFound{[]results.GPU{server, small}, usedBy(0), ""}, gpusBy(t, "")); diff != "" {
		t.Error(diff)
	}
	busy := server
	busy.Used, busy.Processes = 80<<30, &two
	if diff := cmp.Diff(gpusFound{[]results.GPU{busy, small}, usedBy(80 << 30), ""}, gpusBy(t, "busy")); diff != "" {
		t.Error(diff)
	}
	lost := results.GPU{
		Name: small.Name, Driver: small.Driver, Bus: small.Bus, Fault: "nvmlDeviceGetMemoryInfo: GPU is lost",
	}
	if diff := cmp.Diff(gpusFound{[]results.GPU{server, lost}, usedBy(0)[:1], ""}, gpusBy(t, "lost")); diff != "" {
		t.Error(diff)
	}
	for want, found := range map[string]gpusFound{
		"libnvidia-ml.so.1: nvmlInit_v2: Driver Not Loaded": gpusBy(t, "no driver"),

		"libnvidia-ml.so.1 has no nvmlDeviceGetEccMode: weir needs that of a driver from 2018 (R384) or later": gpusBy(
			t, "", "-DWITHOUT_ECC"),
	} {
		if found.Reason != want || found.GPUs != nil {
			t.Errorf("got %+v, want the reason %q", found, want)
		}
	}
}

// The library of this host, if there is one: each GPU has a name, an address and memory, or the error of its
// query.
func TestGPUsOfThisHost(t *testing.T) {
	found := askGPUs(t)
	if found.Reason != "" {
		t.Skip(found.Reason)
	}
	for _, g := range found.GPUs {
		t.Logf("%+v", g)
		if g.Fault == "" && (g.Name == "" || g.Driver == "" || len(g.Bus) != len("0000:41:00.0") || g.Memory < 1<<28 ||
			g.Clocks == nil) {
			t.Errorf("%+v", g)
		}
	}
}

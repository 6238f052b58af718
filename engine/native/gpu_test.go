package native

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"weir/results"
	"weir/test/phase"
)

// A library that a process has loaded stays loaded: each test of GPUs asks in a process
// of its own, which prints what it was told.
const gpuChildEnv = "WEIR_TEST_GPU_CHILD"

func TestGPUChild(t *testing.T) {
	phase.NotUnderRace(t)
	if os.Getenv(gpuChildEnv) == "" {
		t.Skip("is started by the tests of GPUs")
	}
	list, reason := native{}.GPUs()
	text, err := json.Marshal(gpusTold{list, reason})
	if err != nil {
		t.Fatal(err)
	}
	t.Log("TOLD " + string(text))
}

type gpusTold struct {
	GPUs   []results.GPU
	Reason string
}

// gpusBy asks a stand-in for the management library that is built with these flags.
func gpusBy(t *testing.T, env string, flags ...string) gpusTold {
	t.Helper()
	dir := t.TempDir()
	args := append([]string{"-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-O1", "-fPIC", "-shared", "-o",
		filepath.Join(dir, "libnvidia-ml.so.1"), "testdata/nvml/fake_nvml.c"}, flags...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return askGPUs(t, "LD_LIBRARY_PATH="+dir, "FAKE_NVML="+env)
}

func askGPUs(t *testing.T, env ...string) (told gpusTold) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestGPUChild$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(append(os.Environ(), gpuChildEnv+"=1"), env...)
	out, err := cmd.CombinedOutput()
	_, text, _ := strings.Cut(string(out), "TOLD ")
	text, _, _ = strings.Cut(text, "\n")
	if err != nil || json.Unmarshal([]byte(text), &told) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return told
}

// What is told is in the document; what a GPU does not have is absent, and one that does
// not answer has that as its fault.
func TestGPUs(t *testing.T) {
	phase.NotUnderRace(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc here")
	}
	server := results.GPU{
		Name: "NVIDIA H200", Driver: "570.86.15", Bus: "0000:41:00.0", Memory: 150754820096, ECC: "on",
		Clocks: &results.GPUClocks{SM: 345, SMMax: 1980, Memory: 3201, MemoryMax: 3201},
		Power:  &results.GPUPower{Limit: 600, Default: 700},
		NVLink: &results.NVLink{Links: 18, Up: 17},
	}
	small := results.GPU{Name: "NVIDIA T400", Driver: "570.86.15", Bus: "0000:81:00.0", Memory: 2 << 30}
	if diff := cmp.Diff(gpusTold{GPUs: []results.GPU{server, small}}, gpusBy(t, "")); diff != "" {
		t.Error(diff)
	}
	lost := results.GPU{
		Name: small.Name, Driver: small.Driver, Bus: small.Bus, Fault: "nvmlDeviceGetMemoryInfo: GPU is lost",
	}
	if diff := cmp.Diff(gpusTold{GPUs: []results.GPU{server, lost}}, gpusBy(t, "lost")); diff != "" {
		t.Error(diff)
	}
	for want, told := range map[string]gpusTold{
		"libnvidia-ml.so.1: nvmlInit_v2: Driver Not Loaded": gpusBy(t, "no driver"),

		"libnvidia-ml.so.1 has no nvmlDeviceGetEccMode: weir needs that of a driver from 2018 (R384) or later": gpusBy(
			t, "", "-DWITHOUT_ECC"),
	} {
		if told.Reason != want || told.GPUs != nil {
			t.Errorf("got %+v, want the reason %q", told, want)
		}
	}
}

// The library of this host, if there is one: each GPU has a name, an address and memory,
// or says what could not be asked.
func TestGPUsOfThisHost(t *testing.T) {
	phase.NotUnderRace(t)
	told := askGPUs(t)
	if told.Reason != "" {
		t.Skip(told.Reason)
	}
	for _, g := range told.GPUs {
		t.Logf("%+v", g)
		if g.Fault == "" && (g.Name == "" || g.Driver == "" || len(g.Bus) != len("0000:41:00.0") || g.Memory < 1<<28 ||
			g.Clocks == nil) {
			t.Errorf("%+v", g)
		}
	}
}

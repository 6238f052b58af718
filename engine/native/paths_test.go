package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// onlyPathsEnv selects the paths to test by the prefix of their names, in a process with another library for
// them.
const onlyPathsEnv = "WEIR_TEST_PATHS"

// testPath is a fabric with the options and environment that select a path through it.
type testPath struct {
	name, fabric string
	env          map[string]string // of the fabric's library
	changes      []func(*move.Spec)
	every        bool // tested in every run, the others in make rest
	memory       bool // differs from another way only in its memory: only TestTransfer uses it
}

func (w testPath) change(o *move.Spec) {
	for _, f := range w.changes {
		f(o)
	}
}

// slow returns whether each operation takes milliseconds: on a provider that runs it on a thread of its own,
// which sleeps.
func (w testPath) slow() bool { return w.options()["provider"] == "sockets" }

// applyAll makes cases use this path.
func (w testPath) applyAll(cases []move.Spec) []move.Spec {
	for i := range cases {
		w.change(&cases[i])
	}
	return cases
}

// apply returns the cases for this path, fewer of them if each takes long.
func (w testPath) apply(cases ...move.Spec) []move.Spec {
	return shortened(w.options()["provider"], w.applyAll(cases))
}

func (w testPath) options() fabric.Options { return options(1, w.change).FabricOptions }

// values returns its options as those of a case.
func (w testPath) values() option.Values {
	v := option.Values{}
	for name, value := range w.options() {
		v[name] = value
	}
	return v
}

// reads returns whether an initiator can read.
func (w testPath) reads() bool {
	api := w.options()["api"]
	return api == "" || api == "rma"
}

// puts returns whether it carries more than pairs of ranks: cells of a matrix, messages of experts.
func (w testPath) puts() bool { return !strings.HasPrefix(w.options()["api"], "tag") }

// testPaths returns those that this host may have.
func testPaths(t testing.TB) (all []testPath) {
	add := func(name, fabric string, env map[string]string, changes ...func(*move.Spec)) *testPath {
		all = append(all, testPath{name: name, fabric: fabric, env: env, changes: changes})
		return &all[len(all)-1]
	}
	if only := os.Getenv(onlyPathsEnv); only == "nixl" {
		add("nixl", "nixl", nil).every = true
		for name, changes := range map[string][]func(*move.Spec){
			"nixl prepared": {prepared}, "nixl recreated": {prepared, recreated},
			"nixl reregistered": {reregistered, window(1)},
		} {
			*add(name, "nixl", nil, changes...) = testPath{
				name: name, fabric: "nixl", changes: changes, every: true, memory: true,
			}
		}
		return all
	}
	add("shm", "shm", nil).every = true
	add("tcp", "tcp", nil).every = true
	add("tcp heap", "tcp", nil, heap).memory = true
	add("ucx rma", "ucx", nil).every = true
	add("ucx am queue", "ucx", overQueue, api("am")).every = true
	for env, variables := range map[string]map[string]string{
		"kernel": overKernel, "queue": overQueue, "sockets": overSockets, "announced": announced,
		"second": secondProtocols,
	} {
		for _, name := range []string{"rma", "am", "tag", "tag_sync"} {
			ucx := "ucx " + name + " " + env
			there := slices.ContainsFunc(all, func(w testPath) bool { return w.name == ucx })
			if !there && name != "rma" && env != "second" && (name != "tag_sync" || env == "kernel") {
				add(ucx, "ucx", variables, api(name)) // tag_sync differs from tag in one call
			}
			if env != "announced" {
				add(ucx+" heap", "ucx", variables, api(name), heap).memory = true
			}
			if strings.HasPrefix(name, "tag") && env != "second" {
				add(ucx+" lists", "ucx", variables, withOptions("api", name, "datatype", "iov")).memory = true
			}
		}
	}
	if (native{}).Probe([]string{"libfabric"})["libfabric"].Available {
		for i, p := range providers(t) {
			add("libfabric "+p, "libfabric", nil, provider(p)).every = i == 0
		}
		add("libfabric heap", "libfabric", nil, heap).memory = true
	}
	return slices.DeleteFunc(all, func(w testPath) bool { return !strings.HasPrefix(w.name, os.Getenv(onlyPathsEnv)) })
}

// wanted returns whether this run of the tests uses it.
func (w testPath) wanted() bool {
	return phase.Whole() || w.every && (!phase.Short() || w.name == w.fabric)
}

// eachPath runs a test over each available and wanted path.
func eachPath(t *testing.T, test func(t *testing.T, w testPath)) {
	t.Helper()
	for _, w := range testPaths(t) {
		if !w.memory && w.wanted() {
			w.run(t, test)
		}
	}
}

func (w testPath) run(t *testing.T, test func(t *testing.T, w testPath)) {
	t.Run(w.name, func(t *testing.T) {
		needs(t, w.fabric)
		setenv(t, w.env)
		test(t, w)
	})
}

func setenv(t *testing.T, env map[string]string) {
	t.Helper()
	for k, v := range env {
		t.Setenv(k, v)
	}
}

// rerunTests runs tests of this package in another process, because a process cannot unload a library, and returns
// their output. A test that is named for itself must have passed there.
func rerunTests(t *testing.T, tests string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.v", "-test.count=1", "-test.timeout=10m", "-test.run", tests)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: ") {
		t.Fatalf("%s: %v\n%s", tests, err, out)
	}
	return string(out)
}

// library builds sources of testdata as a shared library of this name.
func library(t *testing.T, name string, args ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	args = append([]string{
		"-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-O1", "-fPIC", "-shared", "-o", path,
	}, args...)
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

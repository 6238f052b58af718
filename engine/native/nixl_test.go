package native

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// A process cannot unload a library, and the fake is configured by the environment: each test of NIXL is a
// child process, which prints the result.
const nixlChildEnv = "WEIR_TEST_NIXL_CHILD"

var once = func(o *move.Spec) { o.Iterations, o.Warmup, o.Verify = 1, 0, "none" }

var nixlChildren = map[string]func(t *testing.T) error{
	"one":             nixlCase(options(4096)),
	"prepared one":    nixlCase(options(4096, prepared)),
	"reregister one":  nixlCase(options(4096, reregistered, window(1))),
	"backend":         nixlCase(options(8, withOptions("nixl_backend", "LIBFABRIC"))),
	"posix pingpong":  nixlCase(options(8, pingpong, withOptions("nixl_backend", "POSIX"))),
	"params":          nixlCase(options(8, withOptions("nixl_params", "num_workers=2; ucx_devises = all"))),
	"refused":         nixlCase(options(8, withOptions("nixl_params", "refused=1"))),
	"once":            nixlCase(options(8, once)),
	"batch":           nixlCase(options(4096, batch4, window(3))),
	"merged batch":    nixlCase(options(4096, batch4, withOptions("nixl_merge", "true"))),
	"progress thread": nixlCase(options(8, withOptions("nixl_progress_thread", "true"))),
	"connect": func(t *testing.T) error {
		connectTimeout = 10 * time.Second
		_, ranks := openConnected(t, "nixl", []string{"a", "a"}, options(8))
		closed := make(chan error, len(ranks))
		for _, r := range ranks {
			go func() { closed <- r.Close() }()
		}
		return errors.Join(<-closed, <-closed)
	},
	"probe": func(*testing.T) error {
		f := native{}.Probe([]string{"nixl"})["nixl"]
		return errors.New(f.Version + " | " + f.Reason + " | " + f.Details["library"] + " | " + f.Details["backends"])
	},
	"libraries": func(t *testing.T) error {
		ranks, err := tryCases(t, "nixl", 2, options(4096, once))
		if err == nil {
			t.Log(results.LibrariesText(ranks[0][0].Libraries), ranks[0][1].Libraries[0].Ranks)
		}
		return err
	},
	"peer that went": nixlLostPeer,
	"cells":          nixlCells,
	"slow create":    nixlSlowCreate,
	"slow post":      nixlSlowPost,
	"slow status":    nixlSlowStatus,
	"slow cells":     nixlSlowCells,
	"slow lists":     nixlSlowLists,
	"slow register":  nixlSlowRegister,
	"recreate":       nixlRecreate(recreated, window(3)),
	"prepared":       nixlRecreate(prepared, window(3)),
	"both":           nixlRecreate(prepared, recreated, window(3)),
	"reregister":     nixlRecreate(reregistered, window(1)),
}

// nixlCase runs one case and prints its transports.
func nixlCase(o move.Spec) func(t *testing.T) error {
	return func(t *testing.T) error {
		ranks, err := tryCases(t, "nixl", 2, o)
		if err == nil {
			t.Log(ranks[0][0].Transport)
		}
		return err
	}
}

// nixlLostPeer runs a rank without its peer.
func nixlLostPeer(t *testing.T) error {
	l := engine.Launch{
		Fabric: "nixl", Ranks: 2, Nodes: []string{"a", "a"}, Cases: []engine.Case{caseOf("a", options(4096), 300e6, 0)},
	}
	ranks, err := connectedPair(t, l)
	if err != nil {
		return err
	}
	_, err = ranks[0].measure(l.Cases[0].Key)
	return err
}

func TestNixlChild(t *testing.T) {
	what, ok := os.LookupEnv(nixlChildEnv)
	if !ok {
		t.Skip("is started by the tests of nixl")
	}
	if err := nixlChildren[what](t); err != nil {
		t.Log("ERROR " + err.Error())
		return
	}
	t.Log("FINE")
}

// nixlChild runs one of the children with an environment.
func nixlChild(t *testing.T, what string, env ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestNixlChild$", "-test.v", "-test.timeout=2m")
	cmd.Env = append(append(os.Environ(), nixlChildEnv+"="+what), env...)
	out, _ := cmd.CombinedOutput() // the output says whether it failed
	text := string(out)
	if !strings.Contains(text, "--- PASS: TestNixlChild") {
		t.Fatalf("%s:\n%s", what, text)
	}
	return text
}

// fakeNixl builds the fake library.
func fakeNixl(t *testing.T, flags ...string) string {
	t.Helper()
	return library(t, "libnixl_capi.so", append([]string{"testdata/nixl/fake_nixl.c"}, flags...)...)
}

// Ranks report the file, the version and the build of the library that they loaded.
func TestNixlLibraries(t *testing.T) {
	for flag, build := range map[string]string{
		"0x" + strings.Repeat("ab", 20): "build abababababab", "none": "build ",
	} {
		file := fakeNixl(t, "-Wl,--build-id="+flag)
		text := nixlChild(t, "libraries", "WEIR_NIXL_LIBRARY="+file)
		if want := "libnixl_capi C API 0.99.7, " + file + ", " + build; !strings.Contains(text, want) ||
			!strings.Contains(text, "[1]") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// nixlTests are the tests of every path, which are run over NIXL.
const nixlTests = "^Test(Transfer|Patterns|Threads|Traffic|TrafficSequence|WrongByteOverEachFabric|EP)$"

// NIXL moves what other fabrics move, however its requests are created, and whether they are done at once or
// after some polls.
func TestNixl(t *testing.T) {
	phase.Long(t)
	runs := map[string]string{"3": "^TestTransfer$"}
	if phase.Whole() {
		runs = map[string]string{"0": nixlTests, "3": nixlTests}
	}
	for polls, tests := range runs {
		rerunTests(t, tests, onlyPathsEnv+"=nixl", "WEIR_NIXL_LIBRARY="+fakeNixl(t), "FAKE_NIXL_POLLS="+polls)
	}
}

// A rank makes progress for peers that still connect: the last write of a peer's barrier is done only when
// this rank has driven it, as with UCX below NIXL.
func TestNixlDrivesPeersThatConnect(t *testing.T) {
	phase.Long(t)
	out := nixlChild(t, "connect", "WEIR_NIXL_LIBRARY="+fakeNixl(t), "FAKE_NIXL_POLLS=1", "FAKE_NIXL_TARGET=50")
	if !strings.Contains(out, "FINE") {
		t.Errorf("%s", out)
	}
}

// The real library, if installed.
func TestNixlItself(t *testing.T) {
	out := nixlChild(t, "probe")
	if !strings.Contains(out, "| UCX") && !strings.Contains(out, ",UCX") || os.Getenv("WEIR_NIXL_LIBRARY") == "" {
		t.Skip("WEIR_NIXL_LIBRARY names no NIXL with UCX")
	}
	rerunTests(t, nixlTests, onlyPathsEnv+"=nixl")
}

// Options reach NIXL: a batch is merged only if requested, and parameters are set as written.
func TestNixlOptions(t *testing.T) {
	phase.Long(t)
	lib := "WEIR_NIXL_LIBRARY=" + fakeNixl(t)
	traced := func(child string) (string, string) {
		trace := filepath.Join(t.TempDir(), "trace")
		out := nixlChild(t, child, lib, "FAKE_NIXL_TRACE="+trace)
		b, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err, out)
		}
		return string(b), out
	}
	if b, _ := traced("batch"); strings.Contains(b, "merged") {
		t.Errorf("a batch was merged unasked:\n%s", b)
	}
	if b, _ := traced("merged batch"); !strings.Contains(b, "write 4 x 4096 merged\n") {
		t.Errorf("a batch was not merged:\n%s", b)
	}
	if b, _ := traced("params"); strings.Count(b, "param num_workers=2\n") != 2 ||
		strings.Count(b, "param ucx_devises=all\n") != 2 {
		t.Errorf("not the parameters that both ranks were given:\n%s", b)
	}
	if _, out := traced("progress thread"); !strings.Contains(out, "progress by a thread of NIXL's") {
		t.Error(out)
	}
}

// If a call of NIXL fails, the error names it with its status.
func TestNixlNamesTheCallThatFails(t *testing.T) {
	phase.Long(t)
	lib := "WEIR_NIXL_LIBRARY=" + fakeNixl(t)
	for _, call := range []string{
		"create_configured_agent", "create_notif_map", "get_available_plugins", "string_list_size", "string_list_get",
		"destroy_string_list", "get_plugin_params",
		"create_backend", "destroy_params", "destroy_mem_list", "create_opt_args", "opt_args_add_backend",
		"opt_args_set_skip_desc_merge", "create_reg_dlist",
		"reg_dlist_add_desc", "register_mem", "get_local_md", "load_remote_md", "agent_make_connection",
		"create_xfer_dlist", "xfer_dlist_add_desc:5",
		"create_xfer_req", "destroy_xfer_dlist", "post_xfer_req", "post_xfer_req:60:-13", "get_xfer_status:20",
		"get_notifs",
		"release_xfer_req", "destroy_xfer_req", "invalidate_remote_md", "deregister_mem", "destroy_reg_dlist",
		"destroy_opt_args", "destroy_backend",
		"destroy_notif_map", "destroy_agent", "params_create_iterator", "params_iterator_next",
		"params_destroy_iterator",
		"prep_xfer_dlist", "prep_xfer_dlist:2", "make_xfer_req", "release_xfer_dlist_handle", "deregister_mem:2",
		"register_mem:5",
	} {
		name, _, _ := strings.Cut(call, ":")
		want := "nixl_capi_" + name + " returned -2 (backend error)"
		if strings.HasSuffix(call, "-13") {
			want = "nixl_capi_" + name + " returned -13 (remote disconnected)"
		}
		if name == "string_list_size" || name == "string_list_get" || name == "destroy_string_list" {
			want = "nixl_capi_get_available_plugins returned -2" // they are a part of it
		}
		child := "one"
		switch call {
		case "prep_xfer_dlist", "prep_xfer_dlist:2", "make_xfer_req", "release_xfer_dlist_handle":
			child = "prepared one"
		case "deregister_mem:2", "register_mem:5": // of two ranks, which register twice at first
			child = "reregister one"
		}
		if strings.HasPrefix(name, "params_") {
			child, want = "params", "nixl_capi_params_add returned -2" // they are a part of it
		}
		if out := nixlChild(t, child, lib, "FAKE_NIXL_POLLS=2", "FAKE_NIXL_FAIL="+call); !strings.Contains(out, want) {
			t.Errorf("%s failed:\n%s\nwant %q", call, out, want)
		}
	}
}

func TestNixlFaults(t *testing.T) {
	phase.Long(t)
	fake := fakeNixl(t)
	lib := "WEIR_NIXL_LIBRARY=" + fake
	for name, c := range map[string]struct {
		child string
		env   []string
		want  string
	}{
		"wrong data": {"one", []string{lib, "FAKE_NIXL_CORRUPT=1"},
			"ERROR rank 1: nixl: verify (peer 0): wrong data from rank 0"},
		"unknown backend": {"backend", []string{lib},
			"NIXL has no backend LIBFABRIC here; it has POSIX,UCX (" + fake + ")"},
		"order of bytes": {"posix pingpong", []string{lib}, "NIXL's backend POSIX does not promise that"},
		"unlisted param": {"params", []string{lib}, "parameters that the plugin does not list: ucx_devises)"},
		"refused param":  {"refused", []string{lib}, "nixl_capi_params_add returned -1 (invalid parameter)"},
		"peer that went": {"peer that went", []string{lib}, "rank 1 did not reach the barrier within 0.3 s"},
		"never done":     {"peer that went", []string{lib, "FAKE_NIXL_POLLS=1000000000"}, "timed out after 8 s"},
		"left first":     {"once", []string{lib, "FAKE_NIXL_RECEIPT=1", "FAKE_NIXL_POLLS=200000"}, "FINE"},
		"missing symbol": {"probe", []string{"WEIR_NIXL_LIBRARY=" + fakeNixl(t, "-DFAKE_NIXL_WITHOUT_POST")},
			"libnixl_capi.so has no nixl_capi_post_xfer_req"},
		"missing, in rank": {"one", []string{"WEIR_NIXL_LIBRARY=" + fakeNixl(t, "-DFAKE_NIXL_WITHOUT_POST")},
			"ERROR nixl: load: libnixl_capi.so has no nixl_capi_post_xfer_req"},
		"stub": {"probe", []string{"WEIR_NIXL_LIBRARY=" + fakeNixl(t, "-DFAKE_NIXL_STUB")},
			"is NIXL's stub, which moves nothing"},
		"no such file": {"probe", []string{"WEIR_NIXL_LIBRARY=/nonexistent/libnixl_capi.so"},
			"(the file that WEIR_NIXL_LIBRARY names)"},
		"absent": {"probe", []string{"WEIR_NIXL_LIBRARY="},
			"looked for libnixl_capi.so.0 and libnixl_capi.so in LD_LIBRARY_PATH"},
		"found": {"probe", []string{lib}, "C API 0.99.7 |  | " + fake + " | POSIX,UCX"},
		"on the path": {"probe", []string{"WEIR_NIXL_LIBRARY=", "LD_LIBRARY_PATH=" + filepath.Dir(fake)},
			"C API 0.99.7 |  | " + fake},
		"old library": {"one", []string{"WEIR_NIXL_LIBRARY=" + fakeNixl(t, "-DFAKE_NIXL_OLD")},
			"progress by a thread of NIXL's"},
		"old, prepared": {"prepared one", []string{"WEIR_NIXL_LIBRARY=" + fakeNixl(t, "-DFAKE_NIXL_OLD")},
			"nixl_prepared needs nixl_capi_prep_xfer_dlist and nixl_capi_make_xfer_req"},
		"old, parameters": {"params", []string{"WEIR_NIXL_LIBRARY=" + fakeNixl(t, "-DFAKE_NIXL_OLD")},
			"has no nixl_capi_params_add"},
	} {
		if name == "absent" && nixlInstalled(t) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel() // one waits for its deadline
			if out := nixlChild(t, c.child, c.env...); !strings.Contains(out, c.want) {
				t.Errorf("%s\nwant %q", out, c.want)
			}
		})
	}
}

func nixlInstalled(t *testing.T) bool {
	return !strings.Contains(nixlChild(t, "probe", "WEIR_NIXL_LIBRARY="), "looked for")
}

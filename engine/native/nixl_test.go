package native

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/engine"
	"weir/test/phase"
	"weir/workload/move"
	"weir/workload/transfer"
)

// The library that a process has loaded stays loaded, and the stand-in for it reads
// its orders from the environment: each test of NIXL is a process of its own. The
// child prints what came of it.
const nixlChildEnv = "WEIR_TEST_NIXL_CHILD"

var nixlChildren = map[string]func(t *testing.T) error{
	"ep":                 nixlEP,
	"transfers":          func(t *testing.T) error { return nixlTransfers(t, [3]int64{1, 16, 300}) },
	"prepared transfers": func(t *testing.T) error { return nixlTransfers(t, [3]int64{1, 16, 300}, prepared) },
	"recreated transfers": func(t *testing.T) error {
		return nixlTransfers(t, [3]int64{1, 16, 300}, prepared, recreated)
	},
	"reregister transfers": func(t *testing.T) error { return nixlTransfers(t, [3]int64{1}, reregistered) },
	"one":                  func(t *testing.T) error { _, err := tryCases(t, "nixl", 2, options(4096)); return err },
	"prepared one": func(t *testing.T) error {
		_, err := tryCases(t, "nixl", 2, options(4096, prepared))
		return err
	},
	"reregister one": func(t *testing.T) error {
		_, err := tryCases(t, "nixl", 2, options(4096, reregistered, inFlight(1)))
		return err
	},
	"old": func(t *testing.T) error {
		ranks, err := tryCases(t, "nixl", 2, options(4096))
		if err == nil && !strings.Contains(ranks[0][0].Transport, "progress by a thread of NIXL's") {
			err = errors.New(ranks[0][0].Transport)
		}
		return err
	},
	"backend": func(t *testing.T) error {
		_, err := tryCases(t, "nixl", 2, options(8, having("nixl_backend", "LIBFABRIC")))
		return err
	},
	"posix pingpong": func(t *testing.T) error {
		_, err := tryCases(t, "nixl", 2, options(8, pingpong, having("nixl_backend", "POSIX")))
		return err
	},
	"params": func(t *testing.T) error {
		ranks, err := tryCases(t, "nixl", 2, options(8, having("nixl_params", "num_workers=2; ucx_devises = all")))
		if err != nil {
			return err
		}
		return errors.New(ranks[0][0].Transport)
	},
	"refused": func(t *testing.T) error {
		_, err := tryCases(t, "nixl", 2, options(8, having("nixl_params", "refused=1")))
		return err
	},
	"once": func(t *testing.T) error {
		_, err := tryCases(t, "nixl", 2, options(8, func(o *move.Spec) {
			o.Iterations, o.Warmup, o.Verify = 1, 0, "none"
		}))
		return err
	},
	"batch": func(t *testing.T) error {
		_, err := tryCases(t, "nixl", 2, options(4096, batch4, func(o *move.Spec) { o.InFlight, o.Warmup = 3, 10 }))
		return err
	},
	"merged batch": func(t *testing.T) error {
		_, err := tryCases(t, "nixl", 2, options(4096, batch4, having("nixl_merge", "true")))
		return err
	},
	"progress thread": func(t *testing.T) error {
		ranks, err := tryCases(t, "nixl", 2, options(8, having("nixl_progress_thread", "true")))
		if err != nil {
			return err
		}
		return errors.New(ranks[0][0].Transport)
	},
	"probe": func(*testing.T) error {
		f := native{}.Probe([]string{"nixl"})["nixl"]
		return errors.New(f.Version + " | " + f.Reason + " | " + f.Details["library"] + " | " + f.Details["backends"])
	},
	"peer that went": nixlPeerThatWent,
	"traffic":        nixlTraffic,
	"shapes":         nixlShapes,
	"slow create":    nixlSlowCreate,
	"slow post":      nixlSlowPost,
	"slow status":    nixlSlowStatus,
	"slow cells":     nixlSlowCells,
	"slow lists":     nixlSlowLists,
	"slow register":  nixlSlowRegister,
	"recreate":       func(t *testing.T) error { return nixlAnew(t, recreated, inFlight(3)) },
	"prepared":       func(t *testing.T) error { return nixlAnew(t, prepared, inFlight(3)) },
	"both":           func(t *testing.T) error { return nixlAnew(t, prepared, recreated, inFlight(3)) },
	"reregister":     func(t *testing.T) error { return nixlAnew(t, reregistered, inFlight(1)) },
}

// nixlTransfers runs all operations over sizes, batches and windows; a transfer
// that did not verify is an error of its rank.
func nixlTransfers(t *testing.T, windows [3]int64, changes ...func(*move.Spec)) error {
	var cases []move.Spec
	for _, o := range []move.Spec{
		options(1), options(8, read), options(4096), options(4097, batch4), options(1<<20, read),
		options(100, read, batch4), options(64<<10, full),
		options(5000, read, full), options(8, pingpong), options(1, pingpong), options(100000, pingpong),
		options(333, pingpong, full),
	} {
		for _, window := range windows {
			if o.Mode == "pingpong" && window > 1 || window == 0 {
				continue
			}
			o.InFlight = window
			for _, change := range changes {
				change(&o)
			}
			cases = append(cases, o)
		}
	}
	all, err := tryCases(t, "nixl", 2, cases...)
	if err != nil {
		return err
	}
	for k, ranks := range all {
		o := cases[k]
		if _, err := transfer.Metrics(o, ranks); err != nil {
			return err
		}
		want := uint64(o.BlockSize) * uint64(o.Batch) * uint64(o.Iterations)
		if o.Mode == "pingpong" {
			want *= 2
		}
		if got := ranks[0].Samples.Bytes; got != want || !ranks[0].Verified || !ranks[1].Verified {
			t.Errorf("case %d moved %d bytes, want %d; verified %v %v", k, got, want, ranks[0].Verified,
				ranks[1].Verified)
		}
		if !strings.HasPrefix(ranks[0].Transport, "nixl/UCX ("+os.Getenv("WEIR_NIXL_LIBRARY")) {
			t.Errorf("the transport %q does not name the library", ranks[0].Transport)
		}
	}
	return nil
}

// nixlPeerThatWent has a rank whose peer never comes to the case.
func nixlPeerThatWent(t *testing.T) error {
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
	phase.NotUnderRace(t)
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
	out, _ := cmd.CombinedOutput() // what it printed says whether it failed
	text := string(out)
	if !strings.Contains(text, "--- PASS: TestNixlChild") {
		t.Fatalf("%s:\n%s", what, text)
	}
	return text
}

// fakeNixl builds the stand-in.
func fakeNixl(t *testing.T, flags ...string) string {
	t.Helper()
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("no gcc here")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lib := filepath.Join(dir, "libnixl_capi.so")
	args := append([]string{"-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-O1", "-fPIC", "-shared", "-o",
		lib, "testdata/nixl/fake_nixl.c"}, flags...)
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return lib
}

func TestNixl(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	lib := "WEIR_NIXL_LIBRARY=" + fakeNixl(t)
	for _, c := range [][2]string{
		{"transfers", "0"}, {"transfers", "1"}, {"transfers", "7"}, {"prepared transfers", "3"},
		{"recreated transfers", "1"}, {"reregister transfers", "2"},
	} {
		if out := nixlChild(t, c[0], lib, "FAKE_NIXL_POLLS="+c[1]); !strings.Contains(out, "FINE") {
			t.Errorf("%s, done after %s questions:\n%s", c[0], c[1], out)
		}
	}
}

func TestNixlShapes(t *testing.T) {
	phase.NotUnderRace(t)
	phase.Long(t)
	if out := nixlChild(t, "shapes", "WEIR_NIXL_LIBRARY="+fakeNixl(t), "FAKE_NIXL_POLLS=2"); !strings.Contains(out,
		"FINE") {
		t.Error(out)
	}
}

// The real library, where there is one.
func TestNixlItself(t *testing.T) {
	phase.NotUnderRace(t)
	out := nixlChild(t, "probe")
	if !strings.Contains(out, "| UCX") && !strings.Contains(out, ",UCX") || os.Getenv("WEIR_NIXL_LIBRARY") == "" {
		t.Skip("WEIR_NIXL_LIBRARY names no NIXL with UCX")
	}
	for _, child := range []string{"transfers", "prepared transfers", "recreated transfers", "reregister transfers"} {
		if out := nixlChild(t, child); !strings.Contains(out, "FINE") {
			t.Errorf("%s: %s", child, out)
		}
	}
}

// The options reach NIXL: a batch is merged only where that is asked for, parameters
// are set as written.
func TestNixlOptions(t *testing.T) {
	phase.NotUnderRace(t)
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

// Whatever call of NIXL's fails, the error names it with its status.
func TestNixlNamesTheCallThatFails(t *testing.T) {
	phase.NotUnderRace(t)
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
		want := "nixl_capi_" + name + " gave -2 (backend error)"
		if strings.HasSuffix(call, "-13") {
			want = "nixl_capi_" + name + " gave -13 (remote disconnected)"
		}
		if name == "string_list_size" || name == "string_list_get" || name == "destroy_string_list" {
			want = "nixl_capi_get_available_plugins gave -2" // of which they are a part
		}
		child := "one"
		switch call {
		case "prep_xfer_dlist", "prep_xfer_dlist:2", "make_xfer_req", "release_xfer_dlist_handle":
			child = "prepared one"
		case "deregister_mem:2", "register_mem:5": // of two ranks, which register twice at first
			child = "reregister one"
		}
		if strings.HasPrefix(name, "params_") {
			child, want = "params", "nixl_capi_params_add gave -2" // of which they are a part
		}
		if out := nixlChild(t, child, lib, "FAKE_NIXL_POLLS=2", "FAKE_NIXL_FAIL="+call); !strings.Contains(out, want) {
			t.Errorf("%s failed:\n%s\nwant %q", call, out, want)
		}
	}
}

func TestNixlFaults(t *testing.T) {
	phase.NotUnderRace(t)
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
		"refused param":  {"refused", []string{lib}, "nixl_capi_params_add gave -1 (invalid parameter)"},
		"peer that went": {"peer that went", []string{lib}, "rank 1 did not come to the barrier within 0.3 s"},
		"never done":     {"peer that went", []string{lib, "FAKE_NIXL_POLLS=1000000000"}, "the time of 8 s is up"},
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
		"old library": {"old", []string{"WEIR_NIXL_LIBRARY=" + fakeNixl(t, "-DFAKE_NIXL_OLD")}, "FINE"},
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

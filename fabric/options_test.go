package fabric_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
)

// getter returns values, with the defaults of the fabric's options.
func getter(f fabric.Fabric, v option.Values) option.Getter {
	return func(name string) any {
		if x, ok := v[name]; ok {
			return x
		}
		for _, o := range f.Options {
			if o.Name == name {
				return o.Default
			}
		}
		return nil
	}
}

func find(t *testing.T, name string) fabric.Fabric {
	t.Helper()
	f, ok := fabric.Find(name)
	if !ok {
		t.Fatalf("there is no fabric %s", name)
	}
	return f
}

// Every fabric has a unique name, and options with texts that exist only for it.
func TestFabricsAreSound(t *testing.T) {
	seen := map[string]bool{fabric.AutoName: true}
	for _, f := range fabric.All {
		if f.Name == "" || seen[f.Name] {
			t.Errorf("two fabrics are called %q", f.Name)
		}
		seen[f.Name] = true
		var names []string
		for _, o := range f.Options {
			names = append(names, o.Name)
			if o.Doc == "" || !maps.Equal(o.Where.Options, map[string]string{"fabric": f.Name}) {
				t.Errorf("fabric %s, option %s: for %v, %q", f.Name, o.Name, o.Where.Options, o.Doc)
			}
		}
		for _, name := range slices.Concat(f.Checked, f.WithoutMatrix) {
			if !slices.Contains(names, name) {
				t.Errorf("fabric %s has no option %s", f.Name, name)
			}
		}
		if f.PathOption != "" && !slices.Contains(names, f.PathOption) {
			t.Errorf("fabric %s has no option %s", f.Name, f.PathOption)
		}
		if f.Simulated && (f.Auto != fabric.Never || f.Network || f.Loopback) {
			t.Errorf("fabric %s moves no bytes: %+v", f.Name, f)
		}
	}
}

// The engine gets every option of a fabric, with defaults for those that a case leaves out.
func TestLinesForTheEngine(t *testing.T) {
	for want, c := range map[string]struct {
		name string
		o    fabric.Options
	}{
		"":                           {"tcp", nil},
		"api=rma\ndatatype=contig\n": {"ucx", nil},
		"api=tag\ndatatype=iov\n":    {"ucx", fabric.Options{"datatype": "iov", "api": "tag"}},
		"provider=tcp;ofi_rxm\n":     {"libfabric", fabric.Options{"provider": "tcp;ofi_rxm"}},
		"nixl_backend=UCX\nnixl_params=a=1; b=2\nnixl_merge=true\nnixl_recreate=false\nnixl_prepared=false\nnixl_reregister=false\n" +
			"nixl_progress_thread=false\n": {"nixl", fabric.Options{"nixl_merge": "true", "nixl_params": "a=1; b=2"}},
	} {
		if got, err := fabric.Lines(c.name, c.o); err != nil || got != want {
			t.Errorf("%s %v: %q, %v; want %q", c.name, c.o, got, err, want)
		}
	}
}

// A line break in a value would add another option.
func TestValuesHaveOneLine(t *testing.T) {
	const want = "an option of fabric libfabric has a line break or a zero in its value"
	f := find(t, "libfabric")
	for _, value := range []string{"tcp\nprovider=shm", "tcp\x00"} {
		if _, err := fabric.Read(f.Name, getter(f, option.Values{"provider": value})); err == nil ||
			err.Error() != want {
			t.Errorf("reading %q: %v", value, err)
		}
		if _, err := fabric.Lines(f.Name, fabric.Options{"provider": value}); err == nil || err.Error() != want {
			t.Errorf("describing %q: %v", value, err)
		}
	}
}

func TestLacks(t *testing.T) {
	api := func(name string) fabric.Options { return fabric.Options{"api": name} }
	anew := fabric.Options{"nixl_reregister": "true"}
	for _, c := range []struct {
		name  string
		needs fabric.Needs
		want  string // "": nothing
	}{
		{"shm", fabric.Needs{}, ""},
		{"shm", fabric.Needs{Heap: true}, "fabric shm has no alloc heap"},
		{"tcp", fabric.Needs{Heap: true, Pages: "2MiB", Matrix: true}, ""},
		{"tcp", fabric.Needs{Sleeps: true}, "fabric tcp has no wait sleep: fabric libfabric has it, and ucx with api am, tag and tag_sync"},
		{"auto", fabric.Needs{Sleeps: true}, "fabric auto has no wait sleep: fabric libfabric has it, and ucx with api am, tag and tag_sync"},
		{"auto", fabric.Needs{Heap: true, Pages: "2MiB"}, ""},
		{"ucx", fabric.Needs{Pages: "2MiB"}, "has no pages 2MiB"},
		{"ucx", fabric.Needs{Pages: "2MiB", Heap: true}, ""},
		{"ucx", fabric.Needs{Sleeps: true}, "api rma of fabric ucx has no wait sleep"},
		{"ucx", fabric.Needs{Sleeps: true, Options: api("am")}, ""},
		{"ucx", fabric.Needs{Op: "read", Options: api("am")}, "for op read use api rma"},
		{"ucx", fabric.Needs{Op: "read"}, ""},
		{"ucx", fabric.Needs{Matrix: true, Options: api("tag_sync")},
			"api tag_sync of fabric ucx posts receives ahead"},
		{"ucx", fabric.Needs{Options: fabric.Options{"datatype": "iov"}},
			"datatype iov of fabric ucx is for api tag and tag_sync, not rma"},
		{"ucx", fabric.Needs{Options: fabric.Options{"datatype": "iov", "api": "tag"}}, ""},
		{"libfabric", fabric.Needs{Sleeps: true, Op: "read", Matrix: true}, ""},
		{"nixl", fabric.Needs{Mode: "stream", InFlight: 2, Options: anew}, "nixl_reregister needs in_flight 1, not 2"},
		{"nixl", fabric.Needs{Mode: "stream", InFlight: 1, Options: anew}, ""},
		{"nixl", fabric.Needs{Matrix: true, Options: anew}, "nixl_reregister needs workload transfer"},
		{"sim", fabric.Needs{Matrix: true}, "fabric sim has no model of a matrix yet"},
		{"sim", fabric.Needs{Sleeps: true}, "fabric sim has no wait sleep"},
	} {
		if got := fabric.Lacks(c.name, c.needs); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s, %+v: %q, want %q", c.name, c.needs, got, c.want)
		}
	}
}

func TestWithinHost(t *testing.T) {
	one, two := []string{"a", "a"}, []string{"a", "b"}
	for _, c := range []struct {
		name  string
		nodes []string
		want  bool
	}{
		{"shm", one, true}, {"shm", nil, true}, {"tcp", one, true}, {"tcp", two, false}, {"tcp", nil, false},
		{"ucx", one, false}, {"ucx", two, false}, {"of a later version", one, false}, {"", one, false},
	} {
		if got := fabric.WithinHost(c.name, c.nodes); got != c.want {
			t.Errorf("%s on %v: %v", c.name, c.nodes, got)
		}
	}
}

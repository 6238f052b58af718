package peers

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// catalog:nixlbench-libfabric drives NIXL's plugin LIBFABRIC where it can be loaded, here over provider tcp, and NIXL's
// UCX beside it.
func TestNIXLLibfabric(t *testing.T) {
	tool(t, "gcc")
	packages := filepath.Dir(newest(t, "nixl-libfabric/lib/python3*/site-packages/nixl_cu12"))
	cuda := t.TempDir()
	stub := exec.Command("gcc", "-shared", "-fPIC", "-o", filepath.Join(cuda, "libcuda.so.1"), "testdata/no_cuda.c")
	if out, err := stub.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	libraries := []string{
		filepath.Join(packages, "nixl_cu12.libs"), filepath.Join(packages, ".nixl_cu12.mesonpy.libs"),
		filepath.Join(packages, "nvidia/cuda_runtime/lib"), peer(t, "nixl-libfabric/lib/mpich"), cuda,
	}
	t.Setenv("LD_LIBRARY_PATH", strings.Join(libraries, ":"))
	t.Setenv("WEIR_NIXL_LIBRARY", filepath.Join(packages, ".nixl_cu12.mesonpy.libs/libnixl_capi.so"))
	t.Setenv("NIXL_PLUGIN_DIR", filepath.Join(packages, "nixl_cu12.libs/nixl"))
	s := runNamed(t, "catalog:nixlbench-libfabric", "--launches", "1", "--var", "provider=tcp", "--var", "memory=dram",
		"--var", "hosts=1", "--var", "published=false", "--var", "sizes=4KiB,1MiB")
	measured(t, s.doc, "nixl_libfabric", "bandwidth", 4)
	measured(t, s.doc, "nixl_ucx", "bandwidth", 2)
	for _, c := range s.doc.Cases {
		if skipped := c.Run == "libfabric" || c.Run == "ucx"; skipped != (c.Status == "skipped") {
			t.Errorf("%s is %s: %s", c.Key, c.Status, c.Reason)
		}
	}
	if !strings.Contains(s.said, "Gains in nixl_libfabric over p2p_off") {
		t.Errorf("no table of gains:\n%s", s.said)
	}
}

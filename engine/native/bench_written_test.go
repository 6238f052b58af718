//go:build weirtest

package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/weir-bench/weir/internal/quantity"
)

// written builds the library testdata/bench/written.c, which writes the peer's memory before it is sent; a
// benchmark copied to another machine brings it along (BENCH_WRITTEN).
var written = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("BENCH_WRITTEN"); path != "" {
		return path, nil
	}
	path, err := filepath.Abs(filepath.Join("..", "..", ".build", "libwritten.so"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	cmd := exec.Command("cc", "-std=gnu11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-O2", "-shared", "-fPIC", "-o",
		path, filepath.Join("testdata", "bench", "written.c"))
	cmd.Stderr = os.Stderr
	return path, cmd.Run()
})

// withWrittenMemory returns the environment of a UCX peer.
func withWrittenMemory(b *testing.B, env []string) []string {
	b.Helper()
	path, err := written()
	if err != nil {
		b.Fatalf("building the library that writes the peer's memory: %v", err)
	}
	return append([]string{"LD_PRELOAD=" + path}, env...)
}

// checkResident fails unless the client had as much resident memory as it sent: pages that it only reads map
// the kernel's one page of zeros.
func checkResident(b *testing.B, run peerRun, size quantity.Size) {
	b.Helper()
	if run.resident < int64(size) {
		b.Errorf("buffers are not equal: the peer sent %v, of which it had %v: it never wrote the rest", size,
			quantity.Size(run.resident))
	}
}

//go:build weirtest

package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"weir/quantity"
)

// written is the library testdata/bench/written.c, which writes the peer's memory before
// it is sent; a benchmark that was carried to another machine has it built (BENCH_WRITTEN).
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

// sendingWritten is the environment of a peer of UCX.
func sendingWritten(b *testing.B, env []string) []string {
	b.Helper()
	path, err := written()
	if err != nil {
		b.Fatalf("building the library that writes the peer's memory: %v", err)
	}
	return append([]string{"LD_PRELOAD=" + path}, env...)
}

// sentWritten fails unless the client had as much memory as it sent: pages that it
// only reads are the kernel's one page of zeros, and none of its own.
func sentWritten(b *testing.B, run peerRun, size quantity.Size) {
	b.Helper()
	if run.resident < int64(size) {
		b.Errorf("buffers are not equal: the peer sent %v, of which it had %v: it never wrote the rest", size,
			quantity.Size(run.resident))
	}
}

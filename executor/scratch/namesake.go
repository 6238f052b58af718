package scratch

import (
	"fmt"
	"os"
	"path/filepath"
)

// sharedMemory is where libfabric keeps files that it names after a process.
const sharedMemory = "/dev/shm"

// ForgetProcess removes the shared memory that libfabric named after a process that
// is gone. Whoever later has its number would find it busy.
func ForgetProcess(pid int) { forget(sharedMemory, pid) }

func forget(dir string, pid int) {
	left, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("%d:*", pid))) // only a bad pattern is an error
	for _, path := range left {
		os.Remove(path) // best effort: it may be another user's
	}
}

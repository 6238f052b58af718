package scratch

import (
	"fmt"
	"os"
	"path/filepath"
)

// sharedMemory is the directory of libfabric's shared memory files, which have a process ID in their names.
const sharedMemory = "/dev/shm"

// ForgetProcess removes the shared memory files of a dead process: a later process with its ID would find
// them busy.
func ForgetProcess(pid int) { forget(sharedMemory, pid) }

func forget(dir string, pid int) {
	left, _ := filepath.Glob(filepath.Join(dir, fmt.Sprintf("%d:*", pid))) // only a bad pattern is an error
	for _, path := range left {
		os.Remove(path) // it may belong to another user
	}
}

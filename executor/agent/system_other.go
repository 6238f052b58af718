//go:build !linux

package agent

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// AllowedCPUs are unknown here.
func AllowedCPUs() []int { return nil }

// onProcessors calls do; this system binds no threads.
func onProcessors(cpus []int, do func() error) error {
	if len(cpus) > 0 {
		return errors.New("ranks cannot be bound to processors on this system")
	}
	return do()
}

// hostMemory is unknown here.
func hostMemory() uint64 { return 0 }

// limitProcess does nothing: this system limits no other process.
func limitProcess(int, int, uint64) {}

// punchHole is not supported here.
func punchHole(*os.File, int64, int64) error { return unix.EOPNOTSUPP }

// memoryFile makes a file without a name.
func memoryFile(name string) (*os.File, error) {
	f, err := os.CreateTemp("", name)
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}

package agent

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/results"
)

// AllowedCPUs are the processors in this process's affinity mask, ascending.
func AllowedCPUs() []int {
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) != nil {
		return nil
	}
	var cpus []int
	for i := 0; len(cpus) < set.Count(); i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// onProcessors calls do while this thread is bound to some processors.
func onProcessors(cpus []int, do func() error) error {
	if len(cpus) == 0 {
		return do()
	}
	var all, some unix.CPUSet
	for _, c := range cpus {
		some.Set(c)
	}
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return fmt.Errorf("reading the processors of a thread: %w", err)
	}
	if err := unix.SchedSetaffinity(0, &some); err != nil {
		return fmt.Errorf("binding a rank to processors %s: %w", results.FormatCPUs(cpus), err)
	}
	// an error means that the kernel has narrowed the mask meanwhile
	defer unix.SchedSetaffinity(0, &all)
	return do()
}

// hostMemory is the memory of this host in bytes; 0: unknown.
func hostMemory() uint64 {
	var host unix.Sysinfo_t
	if unix.Sysinfo(&host) != nil {
		return 0
	}
	return uint64(host.Totalram) * uint64(host.Unit)
}

// limitProcess sets an rlimit of a process that has started. Errors are ignored: it may have ended.
func limitProcess(pid, resource int, n uint64) {
	_ = unix.Prlimit(pid, resource, &unix.Rlimit{Cur: n, Max: n}, nil)
}

// punchHole frees a part of a file; unix.EOPNOTSUPP if its file system cannot.
func punchHole(f *os.File, from, size int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, size)
}

// memoryFile makes a file that is in memory alone.
func memoryFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

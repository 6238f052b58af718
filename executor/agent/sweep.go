package agent

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"weir/executor/scratch"
)

// sweep removes the shared memory that processes which ended badly left outside
// of the launch's own directory: System V segments, and the files that libfabric
// names after the process.
func sweep(pids map[int]bool) {
	if f, err := os.Open("/proc/sysvipc/shm"); err == nil {
		defer f.Close()
		for _, id := range orphans(bufio.NewScanner(f), pids) {
			_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) // best effort
		}
	}
	for pid := range pids {
		scratch.ForgetProcess(pid)
	}
}

// orphans reads the kernel's list of segments (key, shmid, perms, size, cpid,
// lpid, nattch, …) for those that the processes made and nobody has attached.
func orphans(list *bufio.Scanner, pids map[int]bool) []int {
	var ids []int
	for list.Scan() {
		f := strings.Fields(list.Text())
		if len(f) < 7 || f[6] != "0" {
			continue
		}
		creator, err1 := strconv.Atoi(f[4])
		id, err2 := strconv.Atoi(f[1])
		if err1 == nil && err2 == nil && pids[creator] {
			ids = append(ids, id)
		}
	}
	return ids
}

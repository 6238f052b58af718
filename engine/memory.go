package engine

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// Memory is what a node has free for buffers, in bytes.
type Memory struct {
	Available uint64 `json:"available"` // in pages of the usual size, without swapping; 0: the kernel does not say
	// Huge are huge pages that are set aside or may still be, by the size of a page; a
	// size that the kernel does not have is not there.
	Huge map[uint64]uint64 `json:"huge,omitempty"`
}

// FreeMemory reads what the node has free whose root is given.
func FreeMemory(root fs.FS) Memory {
	var m Memory
	text, _ := fs.ReadFile(root, "proc/meminfo") // absent: not said
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var kib uint64
		if n, _ := fmt.Sscanf(lines.Text(), "MemAvailable: %d kB", &kib); n == 1 {
			m.Available = kib << 10
		}
	}
	sizes, _ := fs.Glob(root, "sys/kernel/mm/hugepages/hugepages-*kB") // only a bad pattern is an error
	for _, dir := range sizes {
		kib, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(path.Base(dir), "hugepages-"), "kB"), 10, 64)
		free, ok := number(root, dir+"/free_hugepages")
		if err != nil || !ok {
			continue
		}
		reserved, _ := number(root, dir+"/resv_hugepages") // of those free, promised to who has not touched them yet
		more, _ := number(root, dir+"/nr_overcommit_hugepages")
		made, _ := number(root, dir+"/surplus_hugepages") // of those more
		if m.Huge == nil {
			m.Huge = map[uint64]uint64{}
		}
		m.Huge[kib<<10] = (free - min(free, reserved) + more - min(more, made)) * (kib << 10)
	}
	return m
}

func number(root fs.FS, name string) (uint64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

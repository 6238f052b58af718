package engine

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Memory is the free memory of a node for buffers, in bytes.
type Memory struct {
	Available uint64 `json:"available"` // in pages of the default size, without swapping; 0: unknown
	// Huge are the huge pages that are or can be reserved, by page size; only sizes that the kernel has.
	Huge map[uint64]uint64 `json:"huge,omitempty"`
	// Nodes are upper bounds for each NUMA node, in pages of the default size: free memory and reclaimable page cache.
	Nodes map[int]uint64 `json:"nodes,omitempty"`
}

// FreeMemory reads the free memory of a node from its root file system.
func FreeMemory(root fs.FS) Memory {
	m := Memory{Available: sum(root, "proc/meminfo", "MemAvailable")}
	nodes, _ := fs.Glob(root, "sys/devices/system/node/node[0-9]*") // only a bad pattern is an error
	for _, dir := range nodes {
		node, err := strconv.Atoi(strings.TrimPrefix(path.Base(dir), "node"))
		if most := sum(root, dir+"/meminfo", "MemFree", "Active(file)", "Inactive(file)", "SReclaimable"); err == nil &&
			most > 0 {
			if m.Nodes == nil {
				m.Nodes = map[int]uint64{}
			}
			m.Nodes[node] = most
		}
	}
	sizes, _ := fs.Glob(root, "sys/kernel/mm/hugepages/hugepages-*kB")
	for _, dir := range sizes {
		kib, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimPrefix(path.Base(dir), "hugepages-"), "kB"), 10,
			64)
		free, ok := number(root, dir+"/free_hugepages")
		if err != nil || !ok {
			continue
		}
		reserved, _ := number(root, dir+"/resv_hugepages") // free, but promised to processes that will touch them
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

// sum adds up fields of a meminfo file, of the host or of a node ("Node 0 MemFree: 5 kB"); 0: it has none of them.
func sum(root fs.FS, name string, fields ...string) (bytes uint64) {
	text, _ := fs.ReadFile(root, name) // if absent: 0
	for line := range strings.Lines(string(text)) {
		before, after, _ := strings.Cut(line, ":")
		words := strings.Fields(before)
		if len(words) == 0 || !slices.Contains(fields, words[len(words)-1]) {
			continue
		}
		if kib, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(after), " kB"), 10, 54); err == nil {
			bytes += kib << 10
		}
	}
	return bytes
}

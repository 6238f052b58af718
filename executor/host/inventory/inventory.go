// Package inventory reads the description of a node from the kernel, below a root file system.
package inventory

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
)

// Read describes the node with a root file system. Missing files leave fields empty.
func Read(root fs.FS) results.Node {
	t := tree{root}
	return results.Node{
		Kernel: strings.TrimSpace(t.text("proc/sys/kernel/ostype") + " " + t.text("proc/sys/kernel/osrelease")),
		OS:     strings.Trim(field(t.text("etc/os-release"), "PRETTY_NAME", "="), `"`),
		CPU:    t.cpu(),
		NUMA:   t.numa(),
		Memory: t.memory(),
		GPUs:   t.gpus(),
		NICs:   t.nics(),
		RDMA:   t.rdma(),
	}
}

// tree reads files below a root.
type tree struct{ root fs.FS }

// text is the content of a file, or "".
func (t tree) text(name string) string {
	b, err := fs.ReadFile(t.root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number is the integer in a file.
func (t tree) number(name string) (int, bool) {
	n, err := strconv.Atoi(t.text(name))
	return n, err == nil
}

// glob lists files in the order of the numbers in their names.
func (t tree) glob(pattern string) []string {
	found, _ := fs.Glob(t.root, pattern) // only a bad pattern is an error
	slices.SortStableFunc(found, func(a, b string) int { return trailing(a) - trailing(b) })
	return found
}

// trailing is the number at the end of a name, 0 if there is none.
func trailing(name string) int {
	n, _ := strconv.Atoi(name[len(strings.TrimRight(name, "0123456789")):])
	return n
}

// link is the base name of a link's target, such as the driver of a device in sysfs, or "".
func (t tree) link(name string) string {
	to, err := fs.ReadLink(t.root, name)
	if err != nil {
		return ""
	}
	return path.Base(to)
}

// nearNode is the NUMA node of a device, or nil.
func (t tree) nearNode(name string) *int {
	if n, ok := t.number(name); ok && n >= 0 {
		return &n
	}
	return nil
}

// field is the value of the first line "name<sep>value".
func field(text, name, sep string) string {
	for line := range strings.Lines(text) {
		k, v, ok := strings.Cut(line, sep)
		if ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func (t tree) cpu() results.CPU {
	info := t.text("proc/cpuinfo")
	return results.CPU{
		Model:   cpuModel(info),
		Count:   len(t.glob("sys/devices/system/cpu/cpu[0-9]*")),
		Sockets: sockets(info),
		NUMA:    max(1, len(t.glob("sys/devices/system/node/node[0-9]*"))),
		Gov:     t.governors(),
		Driver:  t.text("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"),
		Turbo:   t.turbo(),
		Cache:   t.cache(),
	}
}

// cache describes the caches of the first processor only, which is fast.
func (t tree) cache() *results.Cache {
	var c results.Cache
	for _, dir := range t.glob("sys/devices/system/cpu/cpu0/cache/index[0-9]*") {
		size, err := quantity.ParseSize(t.text(dir+"/size") + "iB") // the kernel writes 1024K
		if err != nil || t.text(dir+"/type") == "Instruction" {
			continue
		}
		switch level, _ := t.number(dir + "/level"); level {
		case 2:
			c.L2 = int64(size)
		case 3:
			c.L3 = int64(size)
		}
	}
	if c.Last() == 0 {
		return nil
	}
	return &c
}

func cpuModel(cpuinfo string) string {
	for _, name := range []string{"model name", "Model", "cpu model", "uarch"} {
		if m := field(cpuinfo, name, ":"); m != "" {
			return m
		}
	}
	return runtime.GOARCH
}

func sockets(cpuinfo string) int {
	ids := map[string]bool{}
	for line := range strings.Lines(cpuinfo) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "physical id" {
			ids[strings.TrimSpace(v)] = true
		}
	}
	return max(1, len(ids))
}

// governors are the governors of all CPUs, each once.
func (t tree) governors() string {
	var all []string
	for _, name := range t.glob("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor") {
		if g := t.text(name); g != "" && !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// turbo is on or off: no_turbo of intel_pstate, or boost of other drivers.
func (t tree) turbo() string {
	if n, ok := t.number("sys/devices/system/cpu/intel_pstate/no_turbo"); ok {
		return onOff(n == 0)
	}
	if n, ok := t.number("sys/devices/system/cpu/cpufreq/boost"); ok {
		return onOff(n != 0)
	}
	return ""
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (t tree) numa() []results.NUMANode {
	var out []results.NUMANode
	for _, name := range t.glob("sys/devices/system/node/node[0-9]*") {
		id := trailing(name)
		memory := field(strings.ReplaceAll(t.text(name+"/meminfo"), "Node "+strconv.Itoa(id)+" ", ""), "MemTotal", ":")
		out = append(out, results.NUMANode{ID: id, CPUs: t.text(name + "/cpulist"), Memory: kibibytes(memory)})
	}
	return out
}

func (t tree) memory() results.Memory {
	m := results.Memory{
		Total:     kibibytes(field(t.text("proc/meminfo"), "MemTotal", ":")),
		Page:      int64(os.Getpagesize()),
		THP:       chosen(t.text("sys/kernel/mm/transparent_hugepage/enabled")),
		LockLimit: lockLimit(t.text("proc/self/limits")),
	}
	for _, name := range t.glob("sys/kernel/mm/hugepages/hugepages-*kB") {
		size := strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "hugepages-"), "kB")
		total, ok := t.number(name + "/nr_hugepages")
		free, also := t.number(name + "/free_hugepages")
		if bytes := kibibytes(size); bytes > 0 && ok && also {
			m.Hugepages = append(m.Hugepages, results.Hugepages{Size: bytes, Total: total, Free: free})
		}
	}
	slices.SortFunc(m.Hugepages, func(a, b results.Hugepages) int { return int(a.Size>>10) - int(b.Size>>10) })
	return m
}

// kibibytes reads "16384 kB" as bytes.
func kibibytes(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n << 10
}

// chosen is the bracketed word of "always [madvise] never".
func chosen(text string) string {
	_, rest, _ := strings.Cut(text, "[")
	word, _, _ := strings.Cut(rest, "]")
	return word
}

// lockLimit is the soft limit of locked memory.
func lockLimit(limits string) string {
	for line := range strings.Lines(limits) {
		if rest, ok := strings.CutPrefix(line, "Max locked memory"); ok {
			if words := strings.Fields(rest); len(words) > 0 {
				return words[0]
			}
		}
	}
	return ""
}

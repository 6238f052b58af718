package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"weir/engine"
	"weir/executor/rank"
	"weir/results"
	"weir/workload"
)

// Survey says what this node has. The named fabrics, or all if none are named,
// are asked for in a throw-away process.
func (a *Agent) Survey(ctx context.Context, fabrics []string) results.Node {
	n := inventory("/")
	n.Name = a.o.Node
	n.CPU.Allowed = len(a.cpus)
	p, err := a.probe(ctx, fabrics)
	if err != nil {
		p = rank.Probe{Error: err.Error()}
	}
	n.Fabrics = p.Fabrics
	if p.Error != "" {
		// no fabric is known to be there, and each says why
		if len(fabrics) == 0 {
			o, _ := workload.Transfer.Option("fabric")
			fabrics = slices.DeleteFunc(slices.Clone(o.Values), func(f string) bool { return f == workload.SimFabric }) // no host has it
		}
		n.Fabrics = map[string]results.Fabric{}
		for _, f := range fabrics {
			n.Fabrics[f] = results.Fabric{Reason: p.Error}
		}
	}
	return n
}

func (a *Agent) probe(ctx context.Context, fabrics []string) (rank.Probe, error) {
	var p rank.Probe
	argv := append(append([]string{}, a.o.ProbeCommand...), fabrics...)
	out, err := a.spawner.output(ctx, a.o.Deadlines.Command, argv, append(os.Environ(), engine.RankEnv()...))
	if err != nil {
		return p, fmt.Errorf("the probe process failed: %w", err)
	}
	// a vendor's library may have said something before
	if i := bytes.LastIndexByte(bytes.TrimSpace(out), '\n'); i >= 0 {
		out = out[i+1:]
	}
	if err := json.Unmarshal(out, &p); err != nil {
		return p, fmt.Errorf("the probe process printed no probe: %w", err)
	}
	return p, nil
}

// inventory reads what the kernel says of the node whose root is given.
func inventory(root string) results.Node {
	read := func(path string) string {
		b, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	count := func(pattern string) int {
		found, _ := filepath.Glob(filepath.Join(root, pattern)) // only a bad pattern is an error
		return len(found)
	}
	return results.Node{
		Kernel: kernel(),
		OS:     osName(read("etc/os-release")),
		CPU: results.CPU{
			Model:   cpuModel(read("proc/cpuinfo")),
			Count:   count("sys/devices/system/cpu/cpu[0-9]*"),
			Sockets: sockets(read("proc/cpuinfo")),
			NUMA:    max(1, count("sys/devices/system/node/node[0-9]*")),
			Gov:     read("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
		},
		Memory: results.Memory{
			Total: memTotal(read("proc/meminfo")),
			Page:  int64(os.Getpagesize()),
			THP:   chosen(read("sys/kernel/mm/transparent_hugepage/enabled")),
		},
		GPUs: gpus(root, read),
		NICs: nics(read),
	}
}

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
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

func osName(release string) string {
	return strings.Trim(field(release, "PRETTY_NAME", "="), `"`)
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

func memTotal(meminfo string) int64 {
	kb, err := strconv.ParseInt(strings.TrimSuffix(field(meminfo, "MemTotal", ":"), " kB"), 10, 64)
	if err != nil {
		return 0
	}
	return kb << 10
}

// chosen is the bracketed word of "always [madvise] never".
func chosen(text string) string {
	_, rest, _ := strings.Cut(text, "[")
	word, _, _ := strings.Cut(rest, "]")
	return word
}

func gpus(root string, read func(string) string) []results.GPU {
	list := []results.GPU{}
	driver := ""
	for _, word := range strings.Fields(read("proc/driver/nvidia/version")) {
		if word[0] >= '0' && word[0] <= '9' && strings.Contains(word, ".") {
			driver = word
			break
		}
	}
	found, _ := filepath.Glob(filepath.Join(root, "proc/driver/nvidia/gpus/*/information"))
	for _, path := range found {
		rel, err := filepath.Rel(root, path)
		if err == nil {
			list = append(list, results.GPU{Name: field(read(rel), "Model", ":"), Driver: driver})
		}
	}
	return list
}

func nics(read func(string) string) []results.NIC {
	list := []results.NIC{}
	all, err := net.Interfaces()
	if err != nil {
		return list
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback != 0 {
			continue
		}
		nic := results.NIC{Name: i.Name, MTU: i.MTU, State: read("sys/class/net/" + i.Name + "/operstate")}
		if mbits, err := strconv.Atoi(read("sys/class/net/" + i.Name + "/speed")); err == nil && mbits > 0 {
			nic.Speed = fmt.Sprintf("%g Gb/s", float64(mbits)/1000)
		}
		list = append(list, nic)
	}
	return list
}

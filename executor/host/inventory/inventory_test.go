package inventory

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

// rooted is a tree of files and links by their names.
func rooted(files, links map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text + "\n")}
	}
	for name, to := range links {
		out[name] = &fstest.MapFile{Data: []byte(to), Mode: fs.ModeSymlink}
	}
	return out
}

const (
	cpus = "sys/devices/system/cpu/"
	pci  = "sys/devices/pci0000:00/0000:01:00.0/"
)

// server is a host with two sockets, two GPUs and two adapters, one of which is down.
func server() fstest.MapFS {
	return rooted(map[string]string{
		"etc/os-release":                             "ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"",
		"proc/sys/kernel/ostype":                     "Linux",
		"proc/sys/kernel/osrelease":                  "6.8.0",
		"proc/cpuinfo":                               "model name\t: Xeon\nphysical id\t: 0\n\nmodel name\t: Xeon\nphysical id\t: 1",
		"proc/meminfo":                               "MemTotal:       16384 kB\nMemFree: 1 kB",
		"proc/self/limits":                           "Limit                     Soft Limit           Hard Limit           Units\nMax locked memory         8388608              unlimited            bytes",
		cpus + "cpu0/cpufreq/scaling_governor":       "performance",
		cpus + "cpu1/cpufreq/scaling_governor":       "powersave",
		cpus + "cpu10/cpufreq/scaling_governor":      "performance",
		cpus + "cpu0/cpufreq/scaling_driver":         "intel_pstate",
		cpus + "intel_pstate/no_turbo":               "1",
		cpus + "cpu0/cache/index0/level":             "1",
		cpus + "cpu0/cache/index0/size":              "48K",
		cpus + "cpu0/cache/index2/level":             "2",
		cpus + "cpu0/cache/index2/size":              "2048K",
		cpus + "cpu0/cache/index2/type":              "Unified",
		cpus + "cpu0/cache/index3/level":             "3",
		cpus + "cpu0/cache/index3/size":              "32M",
		"sys/devices/system/node/node0/cpulist":      "0-1",
		"sys/devices/system/node/node0/meminfo":      "Node 0 MemTotal:        8192 kB\nNode 0 MemFree: 1 kB",
		"sys/devices/system/node/node10/cpulist":     "10",
		"sys/devices/system/node/node2/cpulist":      "",
		"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",

		"sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages": "2",

		"sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages": "1",

		"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages":   "512",
		"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "500",

		"sys/class/net/lo/type":                        "772",
		"sys/class/net/bonding_masters":                "",
		"sys/class/net/eth1/type":                      "1",
		"sys/class/net/eth1/operstate":                 "down",
		"sys/class/net/eth1/mtu":                       "1500",
		"sys/class/net/eth1/speed":                     "-1",
		pci + "net/ib0/type":                           "32",
		pci + "net/ib0/operstate":                      "up",
		pci + "net/ib0/mtu":                            "4092",
		pci + "net/ib0/speed":                          "400000",
		pci + "numa_node":                              "2",
		pci + "infiniband/mlx5_0/fw_ver":               "28.39.1002",
		pci + "infiniband/mlx5_0/ports/1/state":        "4: ACTIVE",
		pci + "infiniband/mlx5_0/ports/1/rate":         "400 Gb/sec (4X NDR)",
		pci + "infiniband/mlx5_0/ports/1/link_layer":   "InfiniBand",
		"sys/class/infiniband/mlx5_1/ports/1/state":    "1: DOWN",
		"sys/class/infiniband/mlx5_1/device/numa_node": "-1",
		"proc/driver/nvidia/version":                   "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue",

		"proc/driver/nvidia/gpus/0000:41:00.0/information": "Model: \t\t NVIDIA H200\nIRQ: 4",
		"sys/bus/pci/devices/0000:41:00.0/numa_node":       "0",
		"proc/driver/nvidia/gpus/0000:81:00.0/information": "Model: \t\t NVIDIA H200",
	}, map[string]string{
		"sys/class/net/ib0":                 "../../devices/pci0000:00/0000:01:00.0/net/ib0",
		pci + "net/ib0/device":              "../../../0000:01:00.0",
		pci + "driver":                      "../../../bus/pci/drivers/mlx5_core",
		"sys/class/infiniband/mlx5_0":       "../../devices/pci0000:00/0000:01:00.0/infiniband/mlx5_0",
		pci + "infiniband/mlx5_0/device":    "../../../0000:01:00.0",
		"sys/bus/pci/drivers/mlx5_core/.of": "x",
	})
}

func TestReadServer(t *testing.T) {
	zero, two := 0, 2
	want := results.Node{
		Kernel: "Linux 6.8.0", OS: "Debian GNU/Linux 12 (bookworm)",
		CPU: results.CPU{
			Model: "Xeon", Count: 3, Sockets: 2, NUMA: 3, Gov: "performance, powersave", Driver: "intel_pstate",
			Turbo: "off", Cache: &results.Cache{L2: 2 << 20, L3: 32 << 20},
		},
		NUMA: []results.NUMANode{{ID: 0, CPUs: "0-1", Memory: 8 << 20}, {ID: 2}, {ID: 10, CPUs: "10"}},
		Memory: results.Memory{
			Total: 16 << 20, Page: int64(os.Getpagesize()), THP: "madvise", LockLimit: "8388608",
			Hugepages: []results.Hugepages{{Size: 2 << 20, Total: 512, Free: 500}, {Size: 1 << 30, Total: 2, Free: 1}},
		},
		GPUs: []results.GPU{
			{Name: "NVIDIA H200", Driver: "550.54.15", Bus: "0000:41:00.0", NUMA: &zero}, {
				Name: "NVIDIA H200", Driver: "550.54.15", Bus: "0000:81:00.0",
			},
		},
		NICs: []results.NIC{
			{Name: "eth1", State: "down", MTU: 1500},
			{
				Name: "ib0", State: "up", MTU: 4092, Speed: "400 Gb/s", Driver: "mlx5_core", NUMA: &two,
				RDMA: []string{"mlx5_0"},
			},
		},
		RDMA: []results.RDMA{
			{
				Name: "mlx5_0", Driver: "mlx5_core", Firmware: "28.39.1002", NUMA: &two,
				Ports: []results.RDMAPort{{Port: 1, State: "ACTIVE", Rate: "400 Gb/s", Link: "InfiniBand"}},
			},
			{Name: "mlx5_1", Ports: []results.RDMAPort{{Port: 1, State: "DOWN"}}},
		},
	}
	got := Read(server())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if !got.RDMA[0].Active() || got.RDMA[1].Active() {
		t.Error("which devices are active")
	}
}

func TestTurbo(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"on":  {cpus + "cpufreq/boost": "1"},
		"off": {cpus + "cpufreq/boost": "0"},
		"":    {cpus + "cpufreq/boost": "?"},
	} {
		if got := Read(rooted(files, nil)).CPU.Turbo; got != want {
			t.Errorf("%v: %q", files, got)
		}
	}
	if got := Read(rooted(map[string]string{cpus + "intel_pstate/no_turbo": "0"}, nil)).CPU.Turbo; got != "on" {
		t.Errorf("no_turbo 0: %q", got)
	}
}

func TestReadEmpty(t *testing.T) {
	got := Read(fstest.MapFS{})
	if got.CPU.Sockets != 1 || got.CPU.NUMA != 1 || got.CPU.Model == "" || got.GPUs == nil || got.NICs == nil ||
		got.RDMA != nil || got.NUMA != nil || got.Memory.Hugepages != nil {
		t.Errorf("%+v", got)
	}
}

// The kernel that runs this must be readable as it is.
func TestReadThisHost(t *testing.T) {
	got := Read(os.DirFS("/"))
	if !strings.HasPrefix(got.Kernel, "Linux ") || got.CPU.Count < 1 || got.Memory.Total < 1<<20 ||
		got.Memory.LockLimit == "" {
		t.Errorf("%+v", got)
	}
	for _, n := range got.NICs {
		if n.Name == "lo" {
			t.Errorf("%+v", n)
		}
	}
}

// GPUs that were described by their library are as near as the kernel says.
func TestNear(t *testing.T) {
	zero := 0
	got := Near(server(), []results.GPU{
		{Name: "a", Bus: "0000:41:00.0", Memory: 1}, {Name: "b", Bus: "0000:99:00.0"}, {Fault: "f"},
	})
	if diff := cmp.Diff([]results.GPU{{Name: "a", Bus: "0000:41:00.0", Memory: 1, NUMA: &zero},
		{Name: "b", Bus: "0000:99:00.0"}, {Fault: "f"}}, got); diff != "" {
		t.Error(diff)
	}
}

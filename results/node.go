package results

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-bench/weir/internal/quantity"
)

// Node is one host of the session. Properties that it lacks, or that the kernel does not report, are
// absent.
type Node struct {
	Name        string            `json:"name"`
	SameHost    string            `json:"same_host,omitempty" doc:"Another node that is on the same host: nothing between them crosses a network."`
	Labels      map[string]string `json:"labels,omitempty" doc:"That its agent was given."`
	Image       string            `json:"image,omitempty" doc:"Of the container of its agent, with the digest that the cluster tells."`
	Kernel      string            `json:"kernel"`
	OS          string            `json:"os"`
	CPU         CPU               `json:"cpu"`
	NUMA        []NUMANode        `json:"numa,omitempty"`
	Memory      Memory            `json:"memory"`
	GPUs        []GPU             `json:"gpus"`
	GPUReason   string            `json:"gpu_reason,omitempty" doc:"Why no more is known of the GPUs."`
	NICs        []NIC             `json:"nics"`
	RDMA        []RDMA            `json:"rdma,omitempty" doc:"Devices that move data between memories of hosts."`
	Fabrics     map[string]Fabric `json:"fabrics"`
	ClockOffset ClockOffset       `json:"clock_offset_s" doc:"The node's clock less the coordinator's, in seconds."`
	StampClock  string            `json:"stamp_clock,omitempty" doc:"The clock of requests' stamps."`
	// Load is from before the session's first process.
	Load    float64 `json:"load,omitzero" doc:"Threads that ran or wanted to when the session began, averaged over a minute." schema:"minimum=0"`
	Running int     `json:"running,omitzero" doc:"Threads of others that ran or wanted to at that instant." schema:"minimum=0"`
	// Variables are library variables of the node's own environment, without those of the shell.
	Variables map[string]string `json:"variables,omitempty" doc:"Library variables of its own environment that the shell does not set, by name."`
	// Counters is the number of counters of each class that are read around a launch.
	Counters map[string]int `json:"counters,omitempty" doc:"How many counters of each class are read before and after a launch; none where the kernel has none or an older version did not look." schema:"keys=throttle?|memory?|link?|recovered?,minimum=1"`
}

// CPU describes the processors available to weir on a node.
type CPU struct {
	Model   string `json:"model"`
	Count   int    `json:"count" doc:"Logical CPUs of the node."`
	Allowed int    `json:"allowed" doc:"Of them, in weir's affinity mask."`
	// Limit is that of a container or job.
	Limit   float64 `json:"limit,omitzero" doc:"Processors that weir's control group may use; absent: no limit." schema:"exclusiveMinimum=0"`
	Sockets int     `json:"sockets"`
	NUMA    int     `json:"numa_nodes"`
	Gov     string  `json:"governor,omitempty" doc:"Of all CPUs: several with commas between."`
	Driver  string  `json:"frequency_driver,omitempty"`
	Turbo   string  `json:"turbo,omitempty" schema:"enum=on|off"`
	// nil: unknown
	Cache *Cache `json:"cache,omitzero" doc:"Bytes of the caches that the first processor reads through."`
}

// Usable is the number of processors that weir may keep busy: those of its affinity mask, up to the limit
// of its control group.
func (c CPU) Usable() float64 {
	if c.Limit > 0 {
		return min(float64(c.Allowed), c.Limit)
	}
	return float64(c.Allowed)
}

// Cache is the size in bytes of the caches of the first processor; 0: no such level.
type Cache struct {
	L2 int64 `json:"l2,omitzero"`
	L3 int64 `json:"l3,omitzero"`
}

// Last is the size of the last-level cache; 0: unknown.
func (c *Cache) Last() int64 {
	if c == nil {
		return 0
	}
	return cmp.Or(c.L3, c.L2)
}

// NUMANode is one node of memory with its processors.
type NUMANode struct {
	ID     int    `json:"id"`
	CPUs   string `json:"cpus"` // as the kernel writes lists: 0-3,8
	Memory int64  `json:"memory" doc:"Bytes."`
}

// Memory is in bytes.
type Memory struct {
	Total int64  `json:"total" doc:"Bytes."`
	Page  int64  `json:"page_size" doc:"Bytes."`
	THP   string `json:"transparent_hugepages,omitempty"`
	// Hugepages by size, ascending.
	Hugepages []Hugepages `json:"hugepages,omitempty"`
	// LockLimit is the limit of locked or registered memory per process (ulimit -l) in bytes, or "unlimited".
	LockLimit string `json:"lock_limit,omitempty" doc:"How much a process may lock or register, in bytes." schema:"pattern=^([0-9]+|unlimited)$"`
}

// LockText is LockLimit for people, as 8MiB or unlimited; "" if it is not known.
func (m Memory) LockText() string {
	if n, err := strconv.ParseInt(m.LockLimit, 10, 64); err == nil {
		return quantity.Size(n).String()
	}
	return m.LockLimit
}

// Hugepages are the reserved pages of one size.
type Hugepages struct {
	Size  int64 `json:"size" doc:"Bytes."`
	Total int   `json:"total"`
	Free  int   `json:"free"`
}

// NIC is one network interface.
type NIC struct {
	Name   string   `json:"name"`
	State  string   `json:"state"`
	MTU    int      `json:"mtu"`
	Speed  string   `json:"speed,omitempty"`
	Driver string   `json:"driver,omitempty"`
	NUMA   *int     `json:"numa,omitzero"`
	RDMA   []string `json:"rdma,omitempty" doc:"The names of its RDMA devices."`
}

// RDMA is one device that moves data between memories of hosts.
type RDMA struct {
	Name     string     `json:"name"`
	Driver   string     `json:"driver,omitempty"`
	Firmware string     `json:"firmware,omitempty"`
	NUMA     *int       `json:"numa,omitzero"`
	Ports    []RDMAPort `json:"ports"`
}

// RDMAPort is one port of an RDMA device.
type RDMAPort struct {
	Port  int    `json:"port"`
	State string `json:"state"` // ACTIVE, DOWN, …
	Rate  string `json:"rate,omitempty"`
	Link  string `json:"link_layer,omitempty"` // InfiniBand, Ethernet, …
}

// Active says whether a port of the device is active.
func (d RDMA) Active() bool {
	return slices.ContainsFunc(d.Ports, func(p RDMAPort) bool { return p.State == "ACTIVE" })
}

// Fabric is the availability of a fabric on a node: a version, or the reason why not.
type Fabric struct {
	Available bool              `json:"available"`
	Version   string            `json:"version,omitempty"`
	Reason    string            `json:"reason,omitempty" doc:"Why it is not available."`
	Details   map[string]string `json:"details,omitempty"`
	// Paths to other hosts as reported by its library; none for fabrics without one.
	Paths []Path `json:"paths,omitempty" doc:"The ways that its library has to other hosts."`
}

// Path is a path of a fabric's library to other hosts.
type Path struct {
	Name   string `json:"name" doc:"UCX's transport, libfabric's provider."`
	Device string `json:"device,omitempty" doc:"As the library names it."` // as the library names it: mlx5_0:1, eth0
	Access string `json:"access,omitempty" doc:"What reads and writes remote memory: a device by itself, or messages and a processor. Absent: the library would take another path." schema:"enum=rdma|software"`
}

// String is the path in sentences: rc_mlx5/mlx5_0:1, or tcp/eth0 (software).
func (p Path) String() string {
	s := p.Name
	if p.Device != "" {
		s += "/" + p.Device
	}
	if p.Access != "" {
		s += " (" + p.Access + ")"
	}
	return s
}

// PathsText lists paths for a sentence.
func PathsText(paths []Path) string {
	words := make([]string, len(paths))
	for i, p := range paths {
		words[i] = p.String()
	}
	return strings.Join(words, ", ")
}

// OtherHosts is the detail of a fabric with unknown paths.
const OtherHosts = "other hosts"

// Details of a fabric that loads backends of its own, with commas between them: those that can be loaded, and those
// that cannot, with the reasons.
const (
	Backends        = "backends"
	BackendsLacking = "backends that cannot be loaded"
)

// How a path accesses remote memory.
const (
	RDMAAccess     = "rdma"     // the device itself
	SoftwareAccess = "software" // messages, and a processor that copies
)

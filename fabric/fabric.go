// Package fabric describes the fabrics: their names, options, environment variables and limits, and when weir may
// choose one. CONTRIBUTING.md has the steps to add one.
package fabric

import (
	"slices"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

// All are the fabrics, in the order of the values of option fabric. auto tries them in this order.
var All = []Fabric{shm, tcp, ucx, libfabric, nixl, cuda, sim}

// Fabric is a transport between ranks.
type Fabric struct {
	Name string

	// Options exist only in cases of this fabric. Docs has their texts under "# Options"; those under
	// "# Options with a matrix" replace them in workloads that move matrices.
	Options []option.Option
	Docs    string
	// WithoutMatrix are the options that workloads with matrices lack.
	WithoutMatrix []string
	// Checked are the options that Check and Lacks depend on.
	Checked []string
	// Check validates a complete set of options; nil: all are valid.
	Check func(Options) error

	// Lacks says which of a case's needs the fabric cannot meet; "" if it meets all. The needs have all options. nil:
	// it meets any.
	Lacks func(Needs) string
	// Stages are metrics of stages that only requests of this fabric have, with the option that enables the stage; "":
	// each request has it.
	Stages map[string]string
	// PostsNothing says why no request of a case is posted; "" if requests are; nil: they always are.
	PostsNothing func(Needs) string
	// NoMatrix says why the fabric cannot move a matrix; "" if it can.
	NoMatrix string
	// Sleeps: a rank can sleep until a message or a completion arrives, but only with the options SleepsWith; "": with
	// any.
	Sleeps     bool
	SleepsWith string

	// Simulated fabrics move no bytes: a simulator computes what would be measured.
	Simulated bool
	// OutlivesPeers: a rank continues after the process of a peer has ended, as writes to it can be abandoned.
	OutlivesPeers bool
	// DiesWithPeers says why a rank does not continue with these options; nil: it continues with any.
	DiesWithPeers func(Options) string
	// Network: the fabric reaches other hosts.
	Network bool
	// VRAM: the fabric moves GPU memory.
	VRAM bool
	// Transports are the names of the transports that can carry data; nil: the library decides.
	Transports []string
	// Loopback: ranks of one host reach each other without a device.
	Loopback bool

	Auto Auto
	// PathOption is the option that names a path (results.Path) and must be equal at all ranks; "": the library
	// negotiates the path with its peers.
	PathOption string

	Environment
}

// Find finds a fabric by name.
func Find(name string) (Fabric, bool) {
	i := slices.IndexFunc(All, func(f Fabric) bool { return f.Name == name })
	if i < 0 {
		return Fabric{}, false
	}
	return All[i], true
}

// Names are the names of the fabrics that a host may have.
func Names() []string {
	var names []string
	for _, f := range All {
		if !f.Simulated {
			names = append(names, f.Name)
		}
	}
	return names
}

// Values are the values of option fabric.
func Values() []string {
	values := []string{AutoName}
	for _, f := range All {
		values = append(values, f.Name)
	}
	return values
}

// Simulated reports whether a fabric is simulated: it moves no bytes.
func Simulated(name string) bool {
	f, ok := Find(name)
	return ok && f.Simulated
}

// WithinHost reports whether the data of a launch on these nodes stays within one host and passes no device.
func WithinHost(name string, nodes []string) bool {
	f, ok := Find(name)
	if !ok || !f.Loopback {
		return false
	}
	return !f.Network || len(slices.Compact(slices.Sorted(slices.Values(nodes)))) == 1
}

// Ignored parses from a log the variables that the fabrics' libraries report to ignore.
func Ignored(log string) []results.Ignored {
	var all []results.Ignored
	for _, f := range All {
		if f.Ignored != nil {
			all = append(all, f.Ignored(log)...)
		}
	}
	return results.MergeIgnored(all)
}

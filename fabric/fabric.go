// Package fabric knows the fabrics: what each is called, which options and environment it
// has, what it cannot do, and when weir may choose it. Adding one is a file here with its
// value and a line in All, beside the C of package engine/native; CONTRIBUTING.md has the
// steps.
package fabric

import (
	"slices"

	"weir/results"
	"weir/workload"
)

// All are the fabrics, in the order of the values of option fabric. Of several that option
// auto may choose the first is tried first.
var All = []Fabric{shm, tcp, ucx, libfabric, nixl, cuda, sim}

// Fabric is one way to move bytes between ranks.
type Fabric struct {
	Name string

	// Options exist only in cases of this fabric. Their texts stand in Docs under
	// "# Options"; those under "# Options with a matrix" replace them in workloads that
	// move matrices.
	Options []workload.Option
	Docs    string
	// WithoutMatrix are options that workloads which move matrices do not have.
	WithoutMatrix []string
	// Checked are the options that Check and Lacks look at.
	Checked []string
	// Check says what is wrong with a complete set of options; nil: nothing can be.
	Check func(Options) error

	// Lacks says what of a case's needs, which have all options, the fabric cannot do; "":
	// it can do all; nil: it always can.
	Lacks func(Needs) string
	// Stages are metrics of stages that requests have over this fabric and not over others, with the option that
	// makes the stage; "": each request has it.
	Stages map[string]string
	// PostsNothing says why nobody posts the requests of a case; "": somebody does; nil: always.
	PostsNothing func(Needs) string
	// NoMatrix is what the fabric lacks to move a matrix; "": it can.
	NoMatrix string
	// Sleeps says that a rank can sleep until something comes, and SleepsWith with which
	// options only; "": with any.
	Sleeps     bool
	SleepsWith string

	// Simulated fabrics move no bytes: a simulator computes what would be measured.
	Simulated bool
	// OutlivesPeers says that a rank goes on where the process of a peer has ended: what it was
	// writing to it can be given up.
	OutlivesPeers bool
	// DiesWithPeers says why a rank does not go on so with some options; nil: it does with any.
	DiesWithPeers func(Options) string
	// Network says that the fabric reaches other hosts.
	Network bool
	// VRAM says that the fabric moves memory of GPUs.
	VRAM bool
	// Loopback says that ranks of one host reach each other without any device.
	Loopback bool

	Auto Auto
	// PathOption is the option that takes the name of a path (results.Path) and must have
	// one value at all ranks; "": the library agrees with its peers by itself.
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

// Names are the fabrics that a host may have.
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

// Simulated says whether a fabric of this name moves no bytes.
func Simulated(name string) bool {
	f, ok := Find(name)
	return ok && f.Simulated
}

// WithinHost says whether the data of a launch on these nodes stays within one host and
// passes no device of it.
func WithinHost(name string, nodes []string) bool {
	f, ok := Find(name)
	if !ok || !f.Loopback {
		return false
	}
	return !f.Network || len(slices.Compact(slices.Sorted(slices.Values(nodes)))) == 1
}

// Ignored are the variables of which the libraries of all fabrics say in a log that they
// ignore them.
func Ignored(log string) []results.Ignored {
	var all []results.Ignored
	for _, f := range All {
		if f.Ignored != nil {
			all = append(all, f.Ignored(log)...)
		}
	}
	return results.MergeIgnored(all)
}

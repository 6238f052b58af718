package fabric

import (
	"maps"
	"slices"
	"strings"

	"github.com/weir-bench/weir/results"
)

// Environment are the environment variables of a fabric's library, and the parsers of its log.
type Environment struct {
	// RankEnv are variables of each rank, as NAME=VALUE, which libraries read while they are loaded. They keep
	// libraries from replacing signal handlers and from patching memory functions in a Go process.
	RankEnv []string
	// ScratchVariable names the directory of the library's shared memory files; "": it has none.
	ScratchVariable string
	// Prefixes are those of the library's variables. One that does not end in an underscore is a variable's full name.
	Prefixes []string
	// HostVariables are prefixes of variables with values that are specific to a host. Package environ has suffixes of
	// further ones.
	HostVariables []string
	// Libraries are the fabric's own library and those below it, whose files ranks report: names of files without
	// versions. One with an underscore at its end is a prefix.
	Libraries []string
	// DeviceVariables returns the variables that restrict a rank to network devices; there is at least one.
	DeviceVariables func(Devices) map[string]string
	// DeviceChoice is the variable by which a scenario or a shell selects devices, so that weir selects none; "": there
	// is none.
	DeviceChoice string
	// Ignored parses from a rank's log the variables that the library reports to ignore; nil: it reports none.
	Ignored func(log string) []results.Ignored
	// Defaults are variables, NAME=VALUE, of a rank over this fabric unless they are set. They only add to the log.
	Defaults []string
	// GPUDefaults are further ones, of ranks with GPUs of their own.
	GPUDefaults []string
	// LowerTransports parses them from a rank's log; nil: the log never has any.
	LowerTransports func(log string) []LowerTransport
}

// Devices are network devices of a node. RDMA devices have a port: mlx5_0:1.
type Devices struct {
	Ports  []string // with their ports
	Names  []string // without
	Driver string   // of RDMA devices; "" for kernel interfaces
}

// RankEnv returns the RankEnv of all fabrics, which each rank has.
func RankEnv() []string {
	var all []string
	for _, f := range All {
		all = append(all, f.RankEnv...)
	}
	return all
}

// Defaults returns the variables of ranks over a fabric, with or without GPUs of their own, that hold unless they are
// set.
func Defaults(name string, gpus bool) []string {
	f, _ := Find(name)
	if gpus {
		return slices.Concat(f.Defaults, f.GPUDefaults)
	}
	return f.Defaults
}

// ScratchEnv returns the variables that make libraries keep their files in a directory.
func ScratchEnv(directory string) []string {
	var all []string
	for _, f := range All {
		if f.ScratchVariable != "" {
			all = append(all, f.ScratchVariable+"="+directory)
		}
	}
	return all
}

// DeviceEnv returns the variables that restrict a rank to devices, for all fabrics.
func DeviceEnv(d Devices) map[string]string {
	all := map[string]string{}
	for _, f := range All {
		if f.DeviceVariables != nil {
			maps.Copy(all, f.DeviceVariables(d))
		}
	}
	return all
}

// ChoosesDevices reports whether a variable is the DeviceChoice of a fabric.
func ChoosesDevices(variable string) bool {
	return slices.ContainsFunc(All, func(f Fabric) bool { return f.DeviceChoice != "" && f.DeviceChoice == variable })
}

// Prefixes returns those of the variables of all fabrics' libraries.
func Prefixes() []string { return concat(func(f Fabric) []string { return f.Prefixes }) }

// HostVariables returns the prefixes of variables that are specific to a host.
func HostVariables() []string { return concat(func(f Fabric) []string { return f.HostVariables }) }

func concat(of func(Fabric) []string) []string {
	var all []string
	for _, f := range All {
		all = append(all, of(f)...)
	}
	return all
}

// Readers returns the fabrics with a library that reads a variable, by its prefix. nixl reads those of UCX and
// libfabric, which are its backends.
func Readers(variable string) (names []string) {
	for _, f := range All {
		prefixed := slices.ContainsFunc(f.Prefixes,
			func(p string) bool { return strings.HasSuffix(p, "_") && strings.HasPrefix(variable, p) })
		if prefixed {
			names = append(names, f.Name)
		}
	}
	if len(names) > 0 && !slices.Contains(names, nixl.Name) {
		names = append(names, nixl.Name)
	}
	return names
}

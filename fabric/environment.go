package fabric

import (
	"maps"
	"slices"
	"strings"

	"weir/results"
)

// Environment is what a fabric's library has to do with environment variables.
type Environment struct {
	// RankEnv are variables that each rank has, as NAME=VALUE. Libraries read them while
	// they are loaded: they must neither take over signal handlers nor patch the memory
	// functions under Go.
	RankEnv []string
	// ScratchVariable names the directory for the library's files of shared memory; "": it
	// has none.
	ScratchVariable string
	// Prefixes are those of the library's variables. One without an underscore at its end
	// is a variable.
	Prefixes []string
	// HostVariables are the beginnings of the names of those whose value belongs to one
	// host. Package environ knows endings of further ones.
	HostVariables []string
	// DeviceVariables confine a rank to network devices, of which it has some.
	DeviceVariables func(Devices) map[string]string
	// DeviceChoice is the variable by which a scenario or a shell chooses devices itself, so
	// that weir chooses none; "": there is none.
	DeviceChoice string
	// Ignored finds in a rank's log the variables that the library says it ignores; nil: it
	// does not say.
	Ignored func(log string) []results.Ignored
	// Defaults are variables, NAME=VALUE, that a rank over this fabric has unless somebody sets
	// them: they change what a library says, and nothing of what it does.
	Defaults []string
	// Beneath finds in a rank's log which transports a library beneath the fabric's own used;
	// nil: there is none, or it does not say.
	Beneath func(log string) []Beneath
}

// Devices are network devices of a node. Those of RDMA have a port: mlx5_0:1.
type Devices struct {
	Ports  []string // with their ports
	Names  []string // without
	Driver string   // of RDMA devices; "": they are interfaces of the kernel
}

// RankEnv are the variables that each rank has for the sake of all fabrics.
func RankEnv() []string {
	var all []string
	for _, f := range All {
		all = append(all, f.RankEnv...)
	}
	return all
}

// Defaults are the variables that ranks over a fabric have unless somebody sets them.
func Defaults(name string) []string {
	f, _ := Find(name)
	return f.Defaults
}

// ScratchEnv are the variables by which libraries have their files in a directory, which
// is removed with them.
func ScratchEnv(directory string) []string {
	var all []string
	for _, f := range All {
		if f.ScratchVariable != "" {
			all = append(all, f.ScratchVariable+"="+directory)
		}
	}
	return all
}

// DeviceEnv are the variables that confine a rank to devices, whatever its fabric.
func DeviceEnv(d Devices) map[string]string {
	all := map[string]string{}
	for _, f := range All {
		if f.DeviceVariables != nil {
			maps.Copy(all, f.DeviceVariables(d))
		}
	}
	return all
}

// ChoosesDevices says whether a variable is one by which its owner chooses devices.
func ChoosesDevices(variable string) bool {
	return slices.ContainsFunc(All, func(f Fabric) bool { return f.DeviceChoice != "" && f.DeviceChoice == variable })
}

// Prefixes are those of the variables of all fabrics' libraries.
func Prefixes() []string { return concat(func(f Fabric) []string { return f.Prefixes }) }

// HostVariables are the beginnings of those that belong to one host.
func HostVariables() []string { return concat(func(f Fabric) []string { return f.HostVariables }) }

func concat(of func(Fabric) []string) []string {
	var all []string
	for _, f := range All {
		all = append(all, of(f)...)
	}
	return all
}

// Readers are the fabrics whose libraries read a variable, by its prefix: NIXL's backends are
// UCX and libfabric. None: it is of no fabric's library.
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

// Package environ composes the environment of the processes of an agent: which variables reach them, are
// permitted, and are recorded. docs/environment.md describes it for users.
package environ

import (
	"slices"
	"strings"

	"github.com/weir-bench/weir/fabric"
)

// libraries are prefixes of library variables, which configure a library in a rank. An entry without a
// trailing underscore is a full name.
var libraries = append(fabric.Prefixes(),
	"RDMAV_", "IBV_", "MLX4_", "MLX5_", "EFA_", "RDMA_", "HFI_", "IPATH_", "PSM_", "PSM2_", "PSM3_", // their devices
	"NCCL_", "OFI_NCCL_", "NVSHMEM_", "GDRCOPY_", "NVTX_", // libraries over them
	"CUDA_", "CUFILE_", "NVIDIA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_", "HSA_", "ROCR_", "ZE_", // accelerators
	"OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", // threads of numerical libraries
	"LD_", "GLIBC_TUNABLES", "GCONV_PATH", "MALLOC_", "TCMALLOC_", "HWLOC_", // the C library, memory, topology
	"OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
	"GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", // the Go runtime of ranks
)

// hostNames are library variables with a value for one host: a share of it, or a program, plugin, module or
// version that is installed there.
var hostNames = []string{
	"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
	"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "GOMAXPROCS", "GOMEMLIMIT",
	"RDMAV_DRIVERS", "IBV_DRIVERS", "CUDA_INJECTION64_PATH",
	"CUDA_VERSION", "NCCL_VERSION", "GLIBC_TUNABLES", "MALLOC_CONF", "MALLOC_TRACE",
	"OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
}

// hostPrefixes and hostEndings match further variables of one host, mostly paths.
var (
	hostPrefixes = append(fabric.HostVariables(), "LD_", "HWLOC_XML")
	hostEndings  = []string{
		"_PATH", "_DIR", "_DIRECTORY", "_FILE", "_FILENAME", "_DEST", "_LIB", "_LIBRARY", "_PLUGIN", "_PLUGINS",
		"_HOME", "_ROOT", "_CONF", "_SOCK", "_HOOK",
	}
)

// Library reports whether a variable is a library variable.
func Library(name string) bool {
	return slices.ContainsFunc(libraries, func(l string) bool {
		return name == l || strings.HasSuffix(l, "_") && strings.HasPrefix(name, l)
	})
}

// OfHost reports whether a library variable has a value for one host. It is then taken from each host's own
// environment and never carried to another.
func OfHost(name string) bool {
	return slices.Contains(hostNames, name) ||
		slices.ContainsFunc(hostPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) ||
		slices.ContainsFunc(hostEndings, func(e string) bool { return strings.HasSuffix(name, e) })
}

// Tuning reports whether a variable is a library variable that means the same on every host.
func Tuning(name string) bool { return Library(name) && !OfHost(name) }

// Package environ decides which environment variables reach the processes that an agent
// starts, which of them are permitted and which are recorded. docs/environment.md has the
// rule for users.
package environ

import (
	"slices"
	"strings"

	"weir/fabric"
)

// libraries are the prefixes of library variables: they change what a library in a rank
// does. A name that ends without an underscore is one variable.
var libraries = append(fabric.Prefixes(),
	"RDMAV_", "IBV_", "MLX4_", "MLX5_", "EFA_", "RDMA_", "HFI_", "IPATH_", "PSM_", "PSM2_", "PSM3_", // their devices
	"NCCL_", "OFI_NCCL_", "NVSHMEM_", "GDRCOPY_", "NVTX_", // libraries over them
	"CUDA_", "CUFILE_", "NVIDIA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_", "HSA_", "ROCR_", "ZE_", // accelerators
	"OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", // threads of numerical libraries
	"LD_", "GLIBC_TUNABLES", "GCONV_PATH", "MALLOC_", "TCMALLOC_", "HWLOC_", // the C library, memory, topology
	"OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
	"GODEBUG", "GOGC", "GOMAXPROCS", "GOMEMLIMIT", // the runtime of Go, which a rank has
)

// hostNames are library variables whose value belongs to one host: a share of it, or a
// program, plugin, module or version that is installed there.
var hostNames = []string{
	"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "NVIDIA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
	"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "GOMAXPROCS", "GOMEMLIMIT",
	"RDMAV_DRIVERS", "IBV_DRIVERS", "CUDA_INJECTION64_PATH",
	"CUDA_VERSION", "NCCL_VERSION", "GLIBC_TUNABLES", "MALLOC_CONF", "MALLOC_TRACE",
	"OPENSSL_CONF", "OPENSSL_ENGINES", "OPENSSL_MODULES",
}

// hostPrefixes and hostEndings are those of further ones, most of which are paths.
var (
	hostPrefixes = append(fabric.HostVariables(), "LD_", "HWLOC_XML")
	hostEndings  = []string{
		"_PATH", "_DIR", "_DIRECTORY", "_FILE", "_FILENAME", "_DEST", "_LIB", "_LIBRARY", "_PLUGIN", "_PLUGINS",
		"_HOME", "_ROOT", "_CONF", "_SOCK", "_HOOK",
	}
)

// Library says whether a variable changes what a library does.
func Library(name string) bool {
	return slices.ContainsFunc(libraries, func(l string) bool {
		return name == l || strings.HasSuffix(l, "_") && strings.HasPrefix(name, l)
	})
}

// OfHost says whether a library variable's value belongs to one host. Such a variable is
// taken from each host's own environment and is carried to no other.
func OfHost(name string) bool {
	return slices.Contains(hostNames, name) ||
		slices.ContainsFunc(hostPrefixes, func(p string) bool { return strings.HasPrefix(name, p) }) ||
		slices.ContainsFunc(hostEndings, func(e string) bool { return strings.HasSuffix(name, e) })
}

// Tuning says whether a variable is a library variable that means the same on every host.
func Tuning(name string) bool { return Library(name) && !OfHost(name) }

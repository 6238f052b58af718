package fabric

import "slices"

// common are the variables of libraries that people set most. A library has hundreds, and other ones in each version:
// a name that is not here need not be wrong.
var common = []string{
	"FI_EFA_ENABLE_SHM_TRANSFER", "FI_EFA_USE_DEVICE_RDMA", "FI_HMEM_DISABLE_P2P", "FI_LOG_LEVEL", "FI_PROVIDER",
	"NCCL_DEBUG", "NCCL_IB_HCA", "NCCL_SOCKET_IFNAME", "NIXL_LOG_LEVEL", "NIXL_PLUGIN_DIR",
	"UCX_IB_GID_INDEX", "UCX_LOG_LEVEL", "UCX_MAX_RNDV_RAILS", "UCX_MEMTYPE_CACHE", "UCX_NET_DEVICES",
	"UCX_PROTO_ENABLE", "UCX_PROTO_INFO", "UCX_RNDV_SCHEME", "UCX_RNDV_THRESH", "UCX_TLS", "UCX_ZCOPY_THRESH",
}

// Misspelt returns the common variable of a library from which a name differs by one letter, or by two neighbours that
// are exchanged; "": there is none, or the name is common itself.
func Misspelt(variable string) string {
	if slices.Contains(common, variable) {
		return ""
	}
	i := slices.IndexFunc(common, func(name string) bool { return oneMistake(variable, name) })
	if i < 0 {
		return ""
	}
	return common[i]
}

// oneMistake reports whether two texts differ by a letter that is added, missing or another one, or by two neighbours
// that are exchanged.
func oneMistake(a, b string) bool {
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	a, b = a[from:], b[from:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return len(a) <= 1 && len(b) <= 1 || len(a) == 2 && len(b) == 2 && a[0] == b[1] && a[1] == b[0]
}

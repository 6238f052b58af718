package fabric

import (
	"slices"
	"strings"
)

// tuning are the prefixes of variables that only tune how a library moves bytes.
var tuning = []string{"UCX_", "FI_", "NIXL_", "NCCL_"}

// Unread says why ranks over a fabric ("": without peers) do not read a variable that tunes a library; "" if they may.
// provider is the value of FI_PROVIDER: libfabric's provider ucx reads UCX's variables.
func Unread(variable, fabric, provider string) string {
	if !slices.ContainsFunc(tuning, func(p string) bool { return strings.HasPrefix(variable, p) }) {
		return ""
	}
	readers := Readers(variable)
	overUCX := strings.Contains(provider, "ucx") || strings.Contains(provider, "mlx")
	switch {
	case slices.Contains(readers, fabric), fabric == libfabric.Name && overUCX && slices.Contains(readers, ucx.Name):
		return ""
	case len(readers) == 0:
		return "no fabric of weir reads it"
	case fabric == "":
		return "only fabric " + strings.Join(readers, " or ") + " reads it, and ranks here use no fabric"
	}
	return "only fabric " + strings.Join(readers, " or ") + " reads it, and not " + fabric
}

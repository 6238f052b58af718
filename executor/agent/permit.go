package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// refusal is what an agent says that was asked for more than it permits.
const refusal = "this agent runs the engine's workloads only: whoever runs the node can start it with --allow-commands"

// loaders are the variables with which a library loads code that their value names,
// besides all that begin with LD_.
var loaders = []string{
	"FI_PROVIDER_PATH", "GCONV_PATH", "GLIBC_TUNABLES", "NIXL_PLUGIN_DIR", "PATH", "UCX_MODULE_DIR", "UCX_MODULES_PATH",
	"WEIR_NIXL_LIBRARY", "CUDA_INJECTION64_PATH", "NCCL_NET_PLUGIN", "OPENSSL_CONF",
}

// permits says whether an agent without commands may give its ranks these variables:
// those that make a process load other code would be commands by another name.
func permits(variables ...map[string]string) error {
	for _, env := range variables {
		for _, name := range slices.Sorted(maps.Keys(env)) {
			if strings.HasPrefix(name, "LD_") || slices.Contains(loaders, name) {
				return fmt.Errorf("the scenario sets %s, which makes a process load other code; %s", name, refusal)
			}
		}
	}
	return nil
}

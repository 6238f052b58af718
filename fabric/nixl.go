package fabric

import (
	_ "embed"
	"fmt"

	"github.com/weir-bench/weir/internal/option"
)

//go:embed nixl.md
var nixlDocs string

// nixl is NIXL, through its C API. Its options configure NIXL's agent and backend, which live as long as a rank.
var nixl = Fabric{
	Name: "nixl", OutlivesPeers: true, Network: true, VRAM: true, Docs: nixlDocs,
	Options: []option.Option{
		{Name: "nixl_backend", Type: option.String, Default: "UCX", Process: true},
		{Name: "nixl_params", Type: option.Params, Default: "", Process: true},
		{Name: "nixl_merge", Type: option.Bool, Default: false, Process: true},
		{Name: "nixl_recreate", Type: option.Bool, Default: false, Process: true},
		{Name: "nixl_prepared", Type: option.Bool, Default: false, Process: true},
		{Name: "nixl_reregister", Type: option.Bool, Default: false, Process: true},
		{Name: "nixl_progress_thread", Type: option.Bool, Default: false, Process: true},
	},
	Stages: map[string]string{
		"prep.request.p99": "",
		"prep.lists":       "nixl_prepared", "prep.lists.p99": "nixl_prepared",
		"prep.reregister": "nixl_reregister", "prep.reregister.p99": "nixl_reregister",
	},
	DiesWithPeers: nixlDiesWithPeers,
	Checked:       []string{"nixl_backend", "nixl_prepared", "nixl_reregister"},
	Check:         nixlCheck,
	Lacks: func(n Needs) string {
		switch {
		case n.Options["nixl_reregister"] != "true":
		case n.Matrix:
			return "option nixl_reregister needs workload transfer: " +
				"the cells of a matrix move at the same time and share a registration"
		case n.Mode == "stream" && n.InFlight != 1:
			return fmt.Sprintf("option nixl_reregister needs in_flight 1, not %d: requests in flight share their memory, "+
				"and each would deregister that of the others", n.InFlight)
		}
		return ""
	},
	Environment: Environment{
		Prefixes:      []string{"NIXL_", "WEIR_NIXL_LIBRARY"},
		HostVariables: []string{"WEIR_NIXL_LIBRARY"},
		Libraries: []string{
			"libnixl_capi", "libnixl", "libnixl_", "libplugin_", "libucp", "libuct", "libucs", "libfabric",
		},
		Defaults:        []string{"UCX_PROTO_INFO=used"}, // backend UCX then logs the protocols that it used
		LowerTransports: func(log string) []LowerTransport { return append(ucxUsed(log), libfabricRails(log)...) },
	},
}

// nixlDiesWithPeers refuses all backends but UCX: it is unknown how the others handle writes to a lost peer.
func nixlDiesWithPeers(o Options) string {
	if o["nixl_backend"] == "UCX" {
		return ""
	}
	return fmt.Sprintf("it is unknown how NIXL's backend %s handles writes to a lost peer: to kill or mute ranks over "+
		"fabric nixl, use backend UCX", o["nixl_backend"])
}

func nixlCheck(o Options) error {
	if backend := o["nixl_backend"]; !option.ParamKey(backend) || len(backend) > 48 {
		return fmt.Errorf("option nixl_backend is %q, which is no name of a backend, as UCX is", backend)
	}
	if o["nixl_prepared"] == "true" && o["nixl_reregister"] == "true" {
		return fmt.Errorf("options nixl_prepared and nixl_reregister exclude each other: " +
			"a prepared list of blocks holds the registration of their memory")
	}
	if _, err := option.ParseParams(o["nixl_params"]); err != nil {
		return fmt.Errorf("option nixl_params: %w", err)
	}
	return nil
}

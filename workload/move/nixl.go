package move

import (
	"fmt"
	"weir/workload"
)

// NixlFabric is the fabric that is NIXL itself, through its C API.
const NixlFabric = "nixl"

var onlyNixl = map[string]string{"fabric": NixlFabric}

// NixlOptions belong to NIXL's agent and its backend, which live as long as a rank.
var NixlOptions = []workload.Option{
	{Name: "nixl_backend", Type: workload.String, Default: "UCX", For: onlyNixl, Process: true},
	{Name: "nixl_params", Type: workload.Params, Default: "", For: onlyNixl, Process: true},
	{Name: "nixl_merge", Type: workload.Bool, Default: false, For: onlyNixl, Process: true},
	{Name: "nixl_recreate", Type: workload.Bool, Default: false, For: onlyNixl, Process: true},
	{Name: "nixl_prepared", Type: workload.Bool, Default: false, For: onlyNixl, Process: true},
	{Name: "nixl_reregister", Type: workload.Bool, Default: false, For: onlyNixl, Process: true},
	{Name: "nixl_progress_thread", Type: workload.Bool, Default: false, For: onlyNixl, Process: true},
}

// Nixl are the options of fabric nixl.
type Nixl struct {
	Backend        string           `json:"backend"`
	Params         []workload.Param `json:"params,omitempty"` // as written
	Merge          bool             `json:"merge"`
	Recreate       bool             `json:"recreate,omitempty"`
	Prepared       bool             `json:"prepared,omitempty"`
	Reregister     bool             `json:"reregister,omitempty"`
	ProgressThread bool             `json:"progress_thread"`
}

// decodeNixl reads the nixl_ options; get gives an option's value or default.
func decodeNixl(get workload.Getter) (*Nixl, error) {
	n := &Nixl{}
	var params string
	var wrong error
	read := func(name string, ok bool) {
		if !ok && wrong == nil {
			wrong = fmt.Errorf("option %s is %T, not a %s", name, get(name), typeOf(NixlOptions, name))
		}
	}
	text := func(name string, to *string) {
		var ok bool
		*to, ok = get(name).(string)
		read(name, ok)
	}
	flag := func(name string, to *bool) {
		var ok bool
		*to, ok = get(name).(bool)
		read(name, ok)
	}
	text("nixl_backend", &n.Backend)
	text("nixl_params", &params)
	flag("nixl_merge", &n.Merge)
	flag("nixl_recreate", &n.Recreate)
	flag("nixl_prepared", &n.Prepared)
	flag("nixl_reregister", &n.Reregister)
	flag("nixl_progress_thread", &n.ProgressThread)
	if wrong != nil {
		return nil, wrong
	}
	if !workload.ParamKey(n.Backend) || len(n.Backend) > 48 {
		return nil, fmt.Errorf("option nixl_backend is %q, which is no name of a backend, as UCX is", n.Backend)
	}
	if n.Prepared && n.Reregister {
		return nil, fmt.Errorf("options nixl_prepared and nixl_reregister exclude each other: a prepared list of blocks holds the registration of their memory")
	}
	if n.Params, wrong = workload.ParseParams(params); wrong != nil {
		return nil, fmt.Errorf("option nixl_params: %w", wrong)
	}
	return n, nil
}

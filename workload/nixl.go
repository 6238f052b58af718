package workload

import (
	"fmt"
	"strings"
)

// NixlFabric is the fabric that is NIXL itself, through its C API.
const NixlFabric = "nixl"

var onlyNixl = map[string]string{"fabric": NixlFabric}

// nixlOptions belong to NIXL's agent and its backend, which live as long as a rank.
var nixlOptions = []Option{
	{Name: "nixl_backend", Type: String, Default: "UCX", For: onlyNixl, Process: true,
		Doc: "backend plugin of NIXL, by its name there; `weir probe` lists those that a host has"},
	{Name: "nixl_params", Type: Params, Default: "", For: onlyNixl, Process: true,
		Doc: "parameters of the backend: key=value, several with a semicolon between, as num_workers=2; ucx_devices=mlx5_0,mlx5_1; the plugin's own values hold for all else"},
	{Name: "nixl_merge", Type: Bool, Default: false, For: onlyNixl, Process: true,
		Doc: "let NIXL join blocks of a request that lie next to each other into one; NIXL does unless it is told not to, but then a batch is no batch"},
	{Name: "nixl_recreate", Type: Bool, Default: false, For: onlyNixl, Process: true,
		Doc: "make each request anew and release the one before it, as recreate_xfer of nixlbench; otherwise those of the window are made once and posted again and again. Making is in prep.request and in bandwidth, releasing in bandwidth; neither is in post.avg, nor in the latency of that request; but while one is made no other is seen to be complete, and in a ping-pong the other end makes one within each round trip"},
	{Name: "nixl_prepared", Type: Bool, Default: false, For: onlyNixl, Process: true,
		Doc: "make requests of lists of blocks that NIXL has prepared (nixl_capi_prep_xfer_dlist for those of a request at each end, nixl_capi_make_xfer_req for the request), as vLLM does and prepared_xfer of nixlbench; otherwise nixl_capi_create_xfer_req does both at once. Lists are prepared once for each place of memory, also with nixl_recreate, where nixlbench prepares them again; that is in prep.lists and, where the timed part comes to a place for the first time, in bandwidth"},
	{Name: "nixl_reregister", Type: Bool, Default: false, For: onlyNixl, Process: true,
		Doc: "register the memory that a request moves at its initiator anew before it is made, and take back the registration of the one before, as reregister_mem of nixlbench, which does so with the whole buffer; each request is made anew then, as with nixl_recreate. It is in prep.reregister and in bandwidth, but in neither post.avg nor the latency of that request; in a ping-pong the other end does the same within each round trip. Only with in_flight 1, since requests in flight share their memory, and without nixl_prepared, whose lists hold a registration"},
	{Name: "nixl_progress_thread", Type: Bool, Default: false, For: onlyNixl, Process: true,
		Doc: "let a thread of NIXL's make progress; without it the rank does. Libraries older than NIXL 0.9 always have the thread"},
}

// Param is one parameter of a backend.
type Param struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Nixl are the options of fabric nixl.
type Nixl struct {
	Backend        string  `json:"backend"`
	Params         []Param `json:"params,omitempty"` // as written
	Merge          bool    `json:"merge"`
	Recreate       bool    `json:"recreate,omitempty"`
	Prepared       bool    `json:"prepared,omitempty"`
	Reregister     bool    `json:"reregister,omitempty"`
	ProgressThread bool    `json:"progress_thread"`
}

// ParseParams reads "key=value; key=value". A key is letters, digits and _ - .
// and stands once; a value is anything but semicolons, control characters and =.
func ParseParams(text string) ([]Param, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var all []Param
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ";") {
		key, value, ok := strings.Cut(part, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok:
			return nil, fmt.Errorf("%q is not key=value", strings.TrimSpace(part))
		case !paramKey(key):
			return nil, fmt.Errorf("%q is no name of a parameter, which has letters, digits, dots, - and _ only", key)
		case seen[key]:
			return nil, fmt.Errorf("%s is set twice", key)
		case strings.Contains(value, "="):
			return nil, fmt.Errorf("the value of %s contains =; between two parameters there is a semicolon", key)
		case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return nil, fmt.Errorf("the value of %s contains a control character", key)
		}
		seen[key] = true
		all = append(all, Param{key, value})
	}
	return all, nil
}

func paramKey(s string) bool {
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-.", r)) {
			return false
		}
	}
	return s != ""
}

// decodeNixl reads the nixl_ options; get gives an option's value or default.
func decodeNixl(get func(string) any) (*Nixl, error) {
	n := &Nixl{}
	var params string
	var wrong error
	read := func(name string, ok bool) {
		if !ok && wrong == nil {
			o, _ := Transfer.Option(name)
			wrong = fmt.Errorf("option %s is %T, not a %s", name, get(name), o.Type)
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
	if !paramKey(n.Backend) || len(n.Backend) > 48 {
		return nil, fmt.Errorf("option nixl_backend is %q, which is no name of a backend, as UCX is", n.Backend)
	}
	if n.Prepared && n.Reregister {
		return nil, fmt.Errorf("options nixl_prepared and nixl_reregister exclude each other: a prepared list of blocks holds the registration of their memory")
	}
	if n.Params, wrong = ParseParams(params); wrong != nil {
		return nil, fmt.Errorf("option nixl_params: %w", wrong)
	}
	return n, nil
}

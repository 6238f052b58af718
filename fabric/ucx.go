package fabric

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/results"
)

//go:embed ucx.md
var ucxDocs string

// ucx is UCX, through libucp.
var ucx = Fabric{
	Name: "ucx", OutlivesPeers: true, Network: true, VRAM: true, Auto: WithRDMA, Docs: ucxDocs,
	Options: []option.Option{
		{
			Name: "api", Type: option.Enum, Default: "rma", Values: []string{"rma", "am", "tag", "tag_sync"},
			Process: true,
		},
		{Name: "datatype", Type: option.Enum, Default: "contig", Values: []string{"contig", "iov"}, Process: true},
	},
	WithoutMatrix: []string{"datatype"},
	Checked:       []string{"api", "datatype"},
	Lacks:         ucxLacks,
	DiesWithPeers: ucxDiesWithPeers,
	Sleeps:        true,
	SleepsWith:    "api am, tag and tag_sync",
	Environment: Environment{
		RankEnv: []string{
			"UCX_HANDLE_ERRORS=none", "UCX_ERROR_SIGNALS=", "UCX_MEM_EVENTS=n", "UCX_WARN_UNUSED_ENV_VARS=y",
		},
		ScratchVariable: "UCX_POSIX_DIR",
		Prefixes:        []string{"UCX_"},
		Libraries:       []string{"libucp", "libuct", "libucs"},
		HostVariables:   []string{"UCX_GDB_COMMAND", "UCX_MODULES", "UCX_LOG_FILE", "UCX_ERROR_MAIL_"},
		DeviceVariables: func(d Devices) map[string]string {
			return map[string]string{"UCX_NET_DEVICES": strings.Join(d.Ports, ",")}
		},
		DeviceChoice: "UCX_NET_DEVICES",
		Ignored:      ucxIgnored,
		GPUDefaults:  []string{"UCX_PROTO_INFO=used"}, // UCX then logs by which protocols it moved GPU memory
		LowerTransports: func(log string) []LowerTransport { // lanes are read back from UCX itself
			return slices.DeleteFunc(ucxUsed(log), func(t LowerTransport) bool { return !ucxStage.MatchString(t.Name) })
		},
	},
}

// ucxDiesWithPeers refuses one-sided writes: if the peer is lost, UCX ends the process ("Fatal: unexpected error:
// Endpoint timeout", src/ucp/core/ucp_request.inl of UCX 1.13, with its new protocols too).
func ucxDiesWithPeers(o Options) string {
	if o["api"] == "am" {
		return ""
	}
	return "UCX ends a process after a one-sided write to a lost peer: to kill or mute ranks over fabric ucx, use api am"
}

func ucxLacks(n Needs) string {
	api := n.Options["api"]
	tags := strings.HasPrefix(api, "tag")
	switch {
	case !n.Heap && n.Pages != "" && n.Pages != "default":
		return "fabric ucx allocates the buffers itself and has no pages " + n.Pages +
			": use alloc heap, or UCX's own environment variables (UCX_POSIX_HUGETLB_MODE)"
	case n.Sleeps && api == "rma":
		return "api rma of fabric ucx has no wait sleep: nothing wakes the target of a one-sided write; " +
			"api am, tag and tag_sync have it"
	case n.Matrix && tags:
		return fmt.Sprintf("api %s of fabric ucx posts receives ahead, all of one size: "+
			"the cells of a matrix and their shards have many; use api rma or am", api)
	case n.Op == "read" && api != "rma":
		return fmt.Sprintf("api %s of fabric ucx sends messages, which carry writes: "+
			"nothing in them reads from the target's memory; for op read use api rma", api)
	case n.Options["datatype"] == "iov" && !tags:
		return fmt.Sprintf("datatype iov of fabric ucx is for api tag and tag_sync, not %s: "+
			"only what they send can be a list of blocks", api)
	}
	return ""
}

// UCX logs at its start the variables with its prefix that it does not use, with the most similar ones:
//
//	unused env variables: UCX_FOO,UCX_TLSS (set UCX_WARN…)               1.13
//	unused environment variables: UCX_FOO; UCX_TLSS (maybe: UCX_TLS?)    since 1.14
//
// Only the library knows its variables: they depend on its version, on the modules that it could load, and on
// prefixes that several of them share.
var (
	ucxUnusedLine = regexp.MustCompile(`unused env(?:ironment)? variables?: (.*)`)
	ucxUnusedName = regexp.MustCompile(`(UCX_[A-Za-z0-9_]+)(?: \(maybe: (UCX_[A-Za-z0-9_]+)\?\))?`)
)

// ucxDevices says which devices a variable of UCX configures, as far as its name shows that.
func ucxDevices(variable string) string {
	for _, of := range []struct{ prefixes, what string }{
		{"UCX_IB_ UCX_RC_ UCX_DC_ UCX_UD_ UCX_SRD_ UCX_MLX5_ UCX_GGA_", "RDMA devices"},
		{"UCX_CUDA_ UCX_GDR_ UCX_ROCM_ UCX_ZE_", "GPUs"},
	} {
		for _, prefix := range strings.Fields(of.prefixes) {
			if strings.HasPrefix(variable, prefix) {
				return " (it configures " + of.what + ")"
			}
		}
	}
	return ""
}

func ucxIgnored(log string) []results.Ignored {
	var all []results.Ignored
	for line := range strings.Lines(log) {
		found := ucxUnusedLine.FindStringSubmatch(strings.TrimSpace(line))
		if found == nil {
			continue
		}
		list, _, _ := strings.Cut(found[1], " (set ")
		for _, name := range ucxUnusedName.FindAllStringSubmatch(list, -1) {
			v := results.Ignored{Name: name[1], Suggestion: name[2]}
			if v.Suggestion == v.Name { // UCX has the variable, but did not read it
				v.Suggestion, v.Reason = "", "UCX has this variable, but no transport or device in use reads it"+
					ucxDevices(v.Name)
			}
			all = append(all, v)
		}
	}
	return all
}

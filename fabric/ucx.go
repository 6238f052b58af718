package fabric

import (
	"cmp"
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"weir/results"
	"weir/suggest"
	"weir/workload"
)

//go:embed ucx.md
var ucxDocs string

// ucx is UCX, through libucp.
var ucx = Fabric{
	Name: "ucx", Network: true, VRAM: true, Auto: WithRDMA, Docs: ucxDocs,
	Options: []workload.Option{
		{
			Name: "api", Type: workload.Enum, Default: "rma", Values: []string{"rma", "am", "tag", "tag_sync"},
			Process: true,
		},
		{Name: "datatype", Type: workload.Enum, Default: "contig", Values: []string{"contig", "iov"}, Process: true},
	},
	WithoutMatrix: []string{"datatype"},
	Checked:       []string{"api", "datatype"},
	Lacks:         ucxLacks,
	Sleeps:        true,
	SleepsWith:    "api am, tag and tag_sync",
	Environment: Environment{
		RankEnv: []string{
			"UCX_HANDLE_ERRORS=none", "UCX_ERROR_SIGNALS=", "UCX_MEM_EVENTS=n", "UCX_WARN_UNUSED_ENV_VARS=y",
		},
		ScratchVariable: "UCX_POSIX_DIR",
		Prefixes:        []string{"UCX_"},
		HostVariables:   []string{"UCX_GDB_COMMAND", "UCX_MODULES", "UCX_LOG_FILE", "UCX_ERROR_MAIL_"},
		DeviceVariables: func(d Devices) map[string]string {
			return map[string]string{"UCX_NET_DEVICES": strings.Join(d.Ports, ",")}
		},
		DeviceChoice: "UCX_NET_DEVICES",
		Ignored:      ucxIgnored,
	},
}

func ucxLacks(n Needs) string {
	api := n.Options["api"]
	tags := strings.HasPrefix(api, "tag")
	switch {
	case !n.Heap && n.Pages != "" && n.Pages != "default":
		return "fabric ucx allocates the buffers itself and has no pages " + n.Pages +
			": alloc heap has them, or UCX's own environment variables decide about them (UCX_POSIX_HUGETLB_MODE)"
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

// UCX says at its start which of the variables with its prefix it has no use for, with
// what it takes for the nearest:
//
//	unused env variables: UCX_FOO,UCX_TLSS (set UCX_WARN…)               1.13
//	unused environment variables: UCX_FOO; UCX_TLSS (maybe: UCX_TLS?)    since 1.14
//
// Only the library itself knows: which names it has depends on its version, on the
// modules that it could load, and on prefixes that several of them share.
var (
	ucxUnusedLine = regexp.MustCompile(`unused env(?:ironment)? variables?: (.*)`)
	ucxUnusedName = regexp.MustCompile(`(UCX_[A-Za-z0-9_]+)(?: \(maybe: (UCX_[A-Za-z0-9_]+)\?\))?`)
)

// ucxNames are the names that people set, of UCX 1.13 and since. The library itself says of few slips what it
// takes for the nearest, and the oldest of none.
var ucxNames = []string{
	"UCX_BCOPY_THRESH", "UCX_CUDA_COPY_MAX_REG_RATIO", "UCX_CUDA_IPC_CACHE", "UCX_DC_MLX5_NUM_DCI",
	"UCX_HANDLE_ERRORS",
	"UCX_IB_GID_INDEX", "UCX_IB_GPU_DIRECT_RDMA", "UCX_IB_MLX5_DEVX", "UCX_IB_NUM_PATHS",
	"UCX_IB_PCI_RELAXED_ORDERING",
	"UCX_IB_REG_METHODS", "UCX_IB_ROCE_REACHABILITY_MODE",
	"UCX_IB_SL", "UCX_IB_TRAFFIC_CLASS", "UCX_KEEPALIVE_INTERVAL",
	"UCX_LOG_FILE", "UCX_LOG_LEVEL", "UCX_MAX_EAGER_LANES", "UCX_MAX_EAGER_RAILS", "UCX_MAX_RNDV_LANES",
	"UCX_MAX_RNDV_RAILS", "UCX_MEMTYPE_CACHE", "UCX_NET_DEVICES", "UCX_PROTO_ENABLE", "UCX_PROTO_INFO",
	"UCX_RC_MLX5_TX_QUEUE_LEN", "UCX_RC_TIMEOUT", "UCX_RCACHE_ENABLE", "UCX_REG_NONBLOCK_MEM_TYPES",
	"UCX_RNDV_FRAG_SIZE",
	"UCX_RNDV_SCHEME", "UCX_RNDV_THRESH", "UCX_SHM_DEVICES", "UCX_SOCKADDR_TLS_PRIORITY", "UCX_STATS_DEST",
	"UCX_TCP_CM_REUSEADDR", "UCX_TCP_MAX_CONN_RETRIES", "UCX_TCP_RX_SEG_SIZE", "UCX_TCP_TX_SEG_SIZE", "UCX_TLS",
	"UCX_WARN_UNUSED_ENV_VARS", "UCX_ZCOPY_THRESH",
}

// nearestUCX is the name that one was most likely meant to be. The prefix, which is right, is not counted among
// the letters.
func nearestUCX(name string) string {
	var rests []string
	for _, known := range ucxNames {
		rests = append(rests, strings.TrimPrefix(known, "UCX_"))
	}
	if near := suggest.Nearest(strings.TrimPrefix(name, "UCX_"), rests); near != "" {
		return "UCX_" + near
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
			all = append(all, results.Ignored{Name: name[1], Suggestion: cmp.Or(name[2], nearestUCX(name[1]))})
		}
	}
	return all
}

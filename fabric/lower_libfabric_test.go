package fabric

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

// The log of NIXL 1.2.0's backend LIBFABRIC over libfabric 2.1 with NIXL_LOG_LEVEL=INFO.
const railsLog = `I1126 01:33:39.094005   23456 libfabric_rail.cpp:470] fabric_attr->name 192.0.2.0/24
I1126 01:33:39.107489   23456 libfabric_rail_manager.cpp:232] Created 1 rails using provider=tcp
I1126 01:33:39.107536   23456 libfabric_backend.cpp:298] Initializing Libfabric Backend
`

func TestLibfabricRails(t *testing.T) {
	debug := "I1126 01:33:30.063243   23397 libfabric_rail_manager.cpp:345] Created rail 0 (device=rdmap79s0, provider=efa)\n" +
		"I1126 01:33:30.063245   23397 libfabric_rail_manager.cpp:345] Created rail 1 (device=rdmap80s0, provider=efa)\n" +
		"I1126 01:33:30.063248   23397 libfabric_rail_manager.cpp:232] Created 2 rails using provider=efa\n"
	for log, want := range map[string][]results.Transport{
		railsLog: {{Name: "tcp", Use: "data", Ranks: []int{1}}},
		debug: {
			{Name: "efa", Device: "rdmap79s0", Use: "possible", Ranks: []int{1}},
			{Name: "efa", Device: "rdmap80s0", Use: "possible", Ranks: []int{1}},
		},
		"Created 1 rails using provider=tcp\n": nil, // of another program
	} {
		for _, read := range []bool{false, true} {
			for _, size := range []uint64{0, 8, 1 << 30} {
				if d := cmp.Diff(want, LowerTransportsFor(LowerTransportsIn("nixl", log), read, size, 1)); d != "" {
					t.Errorf("%q: %s", log, d)
				}
			}
		}
	}
}

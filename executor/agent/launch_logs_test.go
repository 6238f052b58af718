package agent

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
)

// The lines are from the libraries.
func TestIgnoredIn(t *testing.T) {
	set := map[string]bool{"UCX_TLS": true, "UCX_TLSS": true, "UCX_TSL": true,
		"UCX_NET_DEVICE": true, "UCX_FOO_BAR": true,
		"UCX_IB_AR_ENABLE": true, "FI_EFA_ENABLE_SHM_TRANSFER": true, "FI_PROVDER": true}
	for name, c := range map[string]struct {
		log  string
		want []results.Ignored
	}{
		"1.13": {
			"[1795285151.442015] [vm:11554:0]          parser.c:1908 UCX  WARN  unused env variables: UCX_FOO_BAR,UCX_INHERITED,UCX_TLSS (set UCX_WARN_UNUSED_ENV_VARS=n to suppress this warning)\n",
			[]results.Ignored{{Name: "UCX_FOO_BAR"}, {Name: "UCX_TLSS", Suggestion: "UCX_TLS"}},
		},
		"1.13, swapped": {"parser.c:1908 UCX  WARN  unused env variable: UCX_TSL (set UCX_WARN_UNUSED_ENV_VARS=n to suppress this warning)",
			[]results.Ignored{{Name: "UCX_TSL", Suggestion: "UCX_TLS"}}},
		"1.13, one": {"parser.c:1908 UCX  WARN  unused env variable: UCX_TLSS (set UCX_WARN_UNUSED_ENV_VARS=n to suppress this warning)",
			[]results.Ignored{{Name: "UCX_TLSS", Suggestion: "UCX_TLS"}}},
		"1.22": {
			"x\n[1795285152.122176] [vm:11623:0]          parser.c:2578 UCX  WARN  unused environment variables: UCX_FOO_BAR; UCX_NET_DEVICE (maybe: UCX_NET_DEVICES?); UCX_TLSS (maybe: UCX_TLS?)\n" +
				"[1795285152.122176] [vm:11623:0]          parser.c:2578 UCX  WARN  (set UCX_WARN_UNUSED_ENV_VARS=n to suppress this warning)\n",
			[]results.Ignored{
				{Name: "UCX_FOO_BAR"}, {Name: "UCX_NET_DEVICE", Suggestion: "UCX_NET_DEVICES"},
				{Name: "UCX_TLSS", Suggestion: "UCX_TLS"},
			},
		},
		// UCX names a variable as the nearest to itself where it has it and nothing asked for the value.
		"known": {"UCX  WARN  unused environment variables: UCX_IB_AR_ENABLE (maybe: UCX_IB_AR_ENABLE?); UCX_TLS (maybe: UCX_TLS?)",
			[]results.Ignored{
				{Name: "UCX_IB_AR_ENABLE", Reason: "UCX has this variable, but no transport or device in use reads it (it configures RDMA devices)"},
				{Name: "UCX_TLS", Reason: "UCX has this variable, but no transport or device in use reads it"},
			}},
		"known, 1.13": {"UCX  WARN  unused env variable: UCX_IB_AR_ENABLE (set UCX_WARN_UNUSED_ENV_VARS=n …)",
			[]results.Ignored{{Name: "UCX_IB_AR_ENABLE", Reason: otherBuild}}},
		"libfabric": {"weir: libfabric has no variable FI_EFA_ENABLE_SHM_TRANSFER\nweir: libfabric has no variable FI_PROVDER (maybe: FI_PROVIDER?)",
			[]results.Ignored{{Name: "FI_EFA_ENABLE_SHM_TRANSFER", Reason: otherBuild},
				{Name: "FI_PROVDER", Suggestion: "FI_PROVIDER"}}},
		"another's":     {"UCX  WARN  unused env variable: UCX_INHERITED (set UCX_WARN_UNUSED_ENV_VARS=n …)", nil},
		"other warning": {"UCX  WARN  UCX_TLSS", nil},
	} {
		if diff := cmp.Diff(c.want, ignoredIn(c.log, set)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

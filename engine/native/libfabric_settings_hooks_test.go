//go:build weirtest

package native

import (
	"slices"
	"testing"

	"github.com/weir-bench/weir/results"
)

// Help texts of libfabric 1.17 and of its provider for EFA.
func TestDefaultsStatedByLibfabric(t *testing.T) {
	for help, want := range map[string]string{
		"Defines the size of sliding receive window. (Default: 16384)":             "16384",
		"Define the size of completion queue. (Default: 8192)":                     "8192",
		"ofi_rxm: Defines default tx context size (default: 2048).":                "2048",
		"Disable peer to peer support between device memory. (default: no).":       "no",
		"shm: Max number of outstanding tx operations \t\t\t Default: 1024":        "1024",
		"shm: Manually disables CMA. Default: false.":                              "false",
		"verbs: A file to associate with the domain. (default: /tmp/verbs_xrcd)":   "/tmp/verbs_xrcd",
		"ofi_rxm: The maximum number (default: 1) that would be read per progress": "1",
		"Delay in ms between rate limited log messages (default 2000)":             "",
		"size that would be requested. (default: 128, 4096 with srx)":              "",
		"Progress interval (default: 1 if affinity is set, 1000 if not)":           "",
		"Default: SIZE_MAX (18446744073709551615)":                                 "",
		"The prefix or the full name of the verbs device to use (default: )":       "",
		"sockets: Default completion queue size":                                   "",
		"Unique Job ID required by the fabric":                                     "",
	} {
		if got := statedDefault(help); got != want {
			t.Errorf("%s: %q, want %q", help, got, want)
		}
	}
}

func TestVariablesOfProviders(t *testing.T) {
	for _, c := range []struct {
		variable, provider string
		want               bool
	}{
		{"FI_EFA_CQ_SIZE", "efa", true},
		{"FI_EFA_RECVWIN_SIZE", "efa", true},
		{"FI_EFAX_SIZE", "efa", false},
		{"FI_TCP_TX_SIZE", "tcp;ofi_rxm", true},
		{"FI_OFI_RXM_TX_SIZE", "tcp;ofi_rxm", true},
		{"FI_OFI_RXD_RETRY", "tcp;ofi_rxm", false},
		{"FI_VERBS_TX_SIZE", "tcp;ofi_rxm", false},
		{"FI_MR_CACHE_MONITOR", "efa", true},
		{"FI_HMEM_DISABLE_P2P", "shm", true},
		{"FI_UNIVERSE_SIZE", "shm", true},
		{"FI_LOG_LEVEL", "efa", false},
		{"FI_PROVIDER", "", false},
		{"FI_", "efa", false},
	} {
		if got := concernsProvider(c.variable, c.provider); got != c.want {
			t.Errorf("%s of %s: %v", c.variable, c.provider, got)
		}
	}
}

// What the library lists agrees with what its endpoint has.
func TestLibfabricSettings(t *testing.T) {
	if !slices.Contains(allProviders(t), "tcp;ofi_rxm") {
		t.Skip("no provider tcp;ofi_rxm here")
	}
	out, err := tryCases(t, "libfabric", 2, options(8, provider("tcp;ofi_rxm")))
	if err != nil {
		t.Fatal(err)
	}
	is := map[string]results.ProviderFact{}
	for _, f := range out[0][0].Provider {
		is[f.Name] = f
	}
	for _, name := range []string{"tx_size", "rx_size", "cq_size"} {
		if f, ok := is[name]; !ok || f.Setting {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, name := range []string{"inject_size", "max_msg_size", "cq_cnt", "mr_cnt", "mr_mode", "FI_OFI_RXM_TX_SIZE"} {
		if f, ok := is[name]; !ok || !f.Setting {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if is["FI_OFI_RXM_TX_SIZE"].Value != is["tx_size"].Value {
		t.Errorf("%+v, and the endpoint has %+v", is["FI_OFI_RXM_TX_SIZE"], is["tx_size"])
	}
	if f, ok := is["FI_VERBS_TX_SIZE"]; ok {
		t.Errorf("%+v is of another provider", f)
	}
}

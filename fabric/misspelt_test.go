package fabric

import "testing"

func TestMisspeltVariables(t *testing.T) {
	for name, want := range map[string]string{
		"UCX_TSL": "UCX_TLS", "UCX_TL": "UCX_TLS", "UCX_TLSS": "UCX_TLS", "UXC_TLS": "UCX_TLS",
		"FI_PROVDER": "FI_PROVIDER", "NCCL_DEBG": "NCCL_DEBUG", "UCX_NET_DEVICE": "UCX_NET_DEVICES",
		"UCX_TLS": "", "UCX_RC_TX_QUEUE_LEN": "", "FI_EFA_TX_SIZE": "", "NCCL_IB_TC": "", "TLS": "", "": "",
		"UCX_TLS_EXTRA": "", "UCX_SLT": "",
	} {
		if got := Misspelt(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

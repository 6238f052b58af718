package transfer

import (
	"maps"
	"strings"
	"testing"

	"github.com/weir-bench/weir/fabric"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
)

func TestDecodeNixl(t *testing.T) {
	v := option.Values{
		"fabric": "nixl", "block_size": quantity.Size(8), "nixl_params": "num_workers=2", "nixl_merge": true,
		"nixl_recreate": true, "nixl_prepared": true,
	}
	o, err := Decode(v)
	if err != nil {
		t.Fatal(err)
	}
	want := fabric.Options{
		"nixl_backend": "UCX", "nixl_params": "num_workers=2", "nixl_merge": "true", "nixl_recreate": "true",
		"nixl_prepared":   "true",
		"nixl_reregister": "false", "nixl_progress_thread": "false",
	}
	if !maps.Equal(o.FabricOptions, want) {
		t.Errorf("decoded as %v, want %v", o.FabricOptions, want)
	}
	if o, err := Decode(option.Values{"fabric": "ucx", "block_size": quantity.Size(8)}); err != nil ||
		o.FabricOptions["nixl_backend"] != "" {
		t.Errorf("fabric ucx has %v, %v", o.FabricOptions, err)
	}
	for want, change := range map[string]option.Values{
		"which is no name of a backend":              {"nixl_backend": "../UCX"},
		"option nixl_backend is \"\"":                {"nixl_backend": ""},
		"option nixl_merge is string, not a bool":    {"nixl_merge": "true"},
		"option nixl_recreate is int64, not a bool":  {"nixl_recreate": int64(1)},
		"option nixl_params: \"x\" is not key=value": {"nixl_params": "x"},

		"exclude each other": {"nixl_prepared": true, "nixl_reregister": true, "in_flight": int64(1)},

		"nixl_reregister needs in_flight 1, not 16": {"nixl_reregister": true},
	} {
		bad := option.Values{"fabric": "nixl", "block_size": quantity.Size(8)}
		for name, value := range change {
			bad[name] = value
		}
		if _, err := Decode(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", change, err, want)
		}
	}
}

package transfer

import (
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload/move"
)

// The API of fabric ucx: rma unless another is named, and messages carry writes only.
func TestAPIOfUCX(t *testing.T) {
	decode := func(change option.Values) (move.Spec, error) {
		v := option.Values{"fabric": "ucx", "block_size": quantity.Size(8)}
		for name, value := range change {
			v[name] = value
		}
		return Decode(v)
	}
	for want, change := range map[string]option.Values{
		"rma": {"op": "read"}, "am": {"api": "am"}, "tag": {"api": "tag", "mode": "pingpong"},
		"": {"fabric": "shm", "op": "read"},
	} {
		if o, err := decode(change); err != nil || o.FabricOptions["api"] != want {
			t.Errorf("%v: api %q, %v, want %q", change, o.FabricOptions["api"], err, want)
		}
	}
	for want, change := range map[string]option.Values{
		"api am of fabric ucx sends messages, which carry writes":  {"api": "am", "op": "read"},
		"api tag of fabric ucx sends messages, which carry writes": {"api": "tag", "op": "read"},
		"option api is int, not a string":                          {"api": 1},
	} {
		if _, err := decode(change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", change, err, want)
		}
	}
}

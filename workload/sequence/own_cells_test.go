package sequence

import (
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/traffic"
	"slices"
	"strings"
	"testing"
)

// The bytes of a rank to itself are separate from those between ranks, in both workloads with matrices, and are ignored
// or rejected by option.
func TestOwnCellsAreSeparate(t *testing.T) {
	const text = "4: 0>2=1048576,3=7 2>2=9,3=5120 3>3=5120"
	for k, decode := range map[*workload.Kind]func(option.Values) (move.Spec, error){traffic.Kind: traffic.Decode,
		Kind: Decode} {
		for opt, own := range map[any]string{nil: "4: 2>2=9 3>3=5120", "copy": "4: 2>2=9 3>3=5120", "ignore": ""} {
			v := option.Values{"matrix": text}
			if opt != nil {
				v["own_cells"] = opt
			}
			o, err := decode(v)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if o.Own != nil {
				got = o.Own.Compact()
			}
			if got != own || o.Matrix.Compact() != "4: 0>2=1048576,3=7 2>3=5120" ||
				o.OwnBytes(3) != int64(5120*min(len(own), 1)) || o.OwnBytes(0) != 0 {
				t.Errorf("%s, own_cells %v: moves %s and copies %q", k.Name, opt, o.Matrix.Compact(), got)
			}
		}
		if _, err := decode(option.Values{"matrix": text, "own_cells": "error"}); err == nil ||
			!strings.Contains(err.Error(), "rank 2 sends 9B to itself, and own_cells is error") {
			t.Errorf("%s: %v", k.Name, err)
		}
		if err := k.Check(option.Values{"matrix": "2: 0>0=5"}); err == nil ||
			!strings.Contains(err.Error(), "all cells between different ranks are 0") {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
	o, err := Decode(option.Values{"matrix": "4: 0>1=5 3>3=5"})
	if err != nil || !slices.Equal(o.Members(), []int{0, 1, 3}) {
		t.Errorf("%v meet, %v", o.Members(), err)
	}
}

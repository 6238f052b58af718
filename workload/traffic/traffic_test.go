package traffic

import (
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
	"github.com/weir-bench/weir/workload/transfer"
	"slices"
	"strings"
	"testing"
)

func TestDecodeTraffic(t *testing.T) {
	o, err := Decode(option.Values{"matrix": "4: 0>1=1048576,2=5 3>0=7"})
	if err != nil {
		t.Fatal(err)
	}
	if o.Pattern != "matrix" || o.Mode != "stream" || o.Ranks != 4 || o.BlockSize != 1<<20 || o.Batch != 1 ||
		o.Threads != 1 || o.Shards != 1 || o.InFlight != 2 ||
		o.Iterations != 50 || o.Warmup != 10 || o.Reuse != "hot" || o.Payload != "random" || o.Initiator != "dram" ||
		o.Target != "dram" || o.Matrix.Total() != 1<<20+12 || o.Verify != "sample" {
		t.Errorf("%+v", o)
	}
	spec, err := Kind.Spec(option.Values{
		"generate": "ring 4KiB", "ranks": int64(3), "memory": "vram", "op": "read", "shards": int64(4), "fabric": "ucx",
	})
	if o := spec.(*move.Spec); err != nil || o.Matrix.Compact() != "3: 0>1=4096 1>2=4096 2>0=4096" || o.Op != "read" ||
		o.Initiator != "vram" || o.Target != "vram" || o.Shards != 4 || o.FabricOptions["api"] != "rma" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = Decode(option.Values{"matrix": "2: 0>1=5", "fabric": "nixl"}); err != nil ||
		o.FabricOptions["nixl_backend"] != "UCX" {
		t.Errorf("%+v, %v", o, err)
	}
	if k, _ := workload.Lookup("transfer"); k.Name != "transfer" {
		t.Error(k)
	} else if spec, err := k.Spec(option.Values{"block_size": quantity.Size(8)}); err != nil {
		t.Error(err)
	} else if o := spec.(*move.Spec); o.Matrix != nil || o.BlockSize != 8 {
		t.Errorf("%+v", o)
	}
	for want, v := range map[string]option.Values{
		"one of the options matrix, matrix_file and generate": {},

		"give exactly one of":                    {"matrix": "2: 0>1=5", "generate": "ring 1B", "ranks": int64(2)},
		"option generate needs the option ranks": {"generate": "ring 1B"},

		"it has 2 ranks, but option ranks is 3": {"matrix": "2: 0>1=5", "ranks": int64(3)},
		"3 ranks: 3 ranks cannot be divided into groups of 2": {
			"generate": "block_diagonal 1B block=2", "ranks": int64(3),
		},

		"rank 5 is not one of the 3 ranks":           {"generate": "incast 1B target=5", "ranks": int64(3)},
		"fabric sim has no model":                    {"matrix": "2: 0>1=5", "fabric": "sim"},
		"api tag of fabric ucx posts receives ahead": {"matrix": "2: 0>1=5", "fabric": "ucx", "api": "tag"},
		"nothing in them reads from the target's memory": {
			"matrix": "2: 0>1=5", "fabric": "ucx", "api": "am", "op": "read",
		},
		"fabric ucx allocates the buffers itself": {"matrix": "2: 0>1=5", "fabric": "ucx", "pages": "thp"},
		"option shards is int, not a count":       {"matrix": "2: 0>1=5", "shards": 3},
		"option nixl_reregister needs workload transfer": {
			"matrix": "2: 0>1=5", "fabric": "nixl", "nixl_reregister": true,
		},
		"no name of a backend": {"matrix": "2: 0>1=5", "fabric": "nixl", "nixl_backend": "a b"},

		`option matrix: a matrix begins with its number of ra`: {"matrix": "x: 5"},
	} {
		if _, err := Decode(v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %q", v, err, want)
		}
	}
}

func TestAmountOfGeneratedMatrices(t *testing.T) {
	o, _ := Kind.Option("matrix")
	for text, want := range map[string]string{
		"4: 0>1=1048576,2=1048576 3>0=2097152": "4 ranks, 3 cells, 4MiB", "2: 0>1=5": "2 ranks, 1 cell, 5B",
		"nonsense": "nonsense",
	} {
		if got := o.Show(text); got != want {
			t.Errorf("%s is shown as %q, want %q", text, got, want)
		}
	}
	if size, _ := transfer.Kind.Option("block_size"); size.Show(quantity.Size(4096)) != "4KiB" {
		t.Error("a size is not shown as it is")
	}
}

// Options and metrics of traffic that are named as transfer's have their unit and direction, so that scenarios and
// reports can treat them alike.
func TestTrafficNamesThingsAsTransferDoes(t *testing.T) {
	for _, m := range Kind.Metrics {
		if other, ok := transfer.Kind.Metric(m.Name); ok && (other.Unit != m.Unit || other.Better != m.Better) {
			t.Errorf("%s is %s, %s is better, and of transfer %s, %s", m.Name, m.Unit, m.Better, other.Unit,
				other.Better)
		}
	}
	for _, o := range Kind.Options {
		if other, ok := transfer.Kind.Option(o.Name); ok &&
			(other.Type != o.Type || !slices.Equal(other.Values, o.Values)) {
			t.Errorf("option %s differs", o.Name)
		}
	}
}

// A case has the option only if its matrix has own cells, so that the keys of other cases stay the same.
func TestOnlyMatricesWithOwnCellsHaveTheOption(t *testing.T) {
	for text, want := range map[string]bool{"2: 0>1=5": false, "2: 0>1=5 1>1=7": true, "12: 1>11=5 11>1=5": false} {
		v := Kind.Applicable(option.Values{"matrix": text, "own_cells": "copy"})
		if _, has := v["own_cells"]; has != want {
			t.Errorf("%s: %v", text, v)
		}
	}
}

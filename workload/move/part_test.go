package move_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// initiator returns a part with a value in every field.
func initiator() *move.Part {
	stage := move.Stage{Stamps: 3, Mean: 1e-6, P99: 2e-6}
	return &move.Part{
		Rank: 5, Initiator: true, Verified: true, Transport: "rc_mlx5",
		Transports:  []results.Transport{{Name: "rc_mlx5", Device: "mlx5_0:1", Use: results.DataUse, Ranks: []int{5}}},
		MemoryNodes: []int{0, 1}, GPU: "0000:41:00.0",
		GPUCounters: []results.Counter{{Device: "GPU 0000:41:00.0", Name: "n", Class: results.ThrottleClass, By: 1}},
		Walk:        &move.Walk{Initiated: 1 << 20, Served: 7},
		Prep:        move.Prep{Alloc: 1, Register: 0.5, Connect: 0.25}, Memcpy: 20e9, Ceiling: 10e9, CeilingBest: 12e9,
		Usage: move.Usage{CPU: 1.5, Switches: 4}, Clock: move.Clock{Resolution: 1e-9, Cost: 21e-9, Bound: 3e-6},
		Stages: move.Stages{
			Prepare: 1e-7, Made: stage, Listed: stage, Registered: stage, Post: stage,
			Transfer: move.Stage{Stamps: 1, Mean: 3e-6, P99: 4e-6},
		},
		Threads:    &move.Threads{From: 1, To: 1 << 60, Took: 2.5},
		Iterations: []move.Span{{Start: 1, End: 2}, {Start: 3, End: 1 << 60}},
		Delivered:  []move.Delivery{{Peer: 2, Iterations: 3, Mean: 1e-3}},
		Steps:      []move.Played{{Agreed: 1, Start: 2, End: 3}}, Began: []int64{1},
		Samples: &results.Samples{
			Case: "c", Launch: 2, Rank: 5, Role: "initiator", Ops: 10, Bytes: 1 << 40, Start: 5, End: 1 << 50,
			Every: 1, ClockNS: 21.5,
			Counts: map[int]int64{500: 9, 700: 1}, First: []int64{1, 2}, Last: []int64{3},
			Progress: []results.Progress{{Time: 6, Bytes: 7}, {Time: 1 << 50, Bytes: 1 << 40}},
		},
	}
}

// A rank's measurement survives the transport to the executor. Its facts are plain JSON without its samples, which are
// sent separately, and without its rank, which is that of its process.
func TestPartsSurvive(t *testing.T) {
	for name, in := range map[string]*move.Part{
		"initiator": initiator(), "nothing": {},
		"server": {Rank: 3, Verified: true, Prep: move.Prep{Alloc: 1}, Usage: move.Usage{Switches: 2}},
	} {
		encoded, err := in.Encode("a case")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if encoded.Key != "a case" || encoded.Rank != in.Rank || (encoded.Samples != nil) != in.Initiator {
			t.Errorf("%s: key %q, rank %d, %d bytes of samples", name, encoded.Key, encoded.Rank, len(encoded.Samples))
		}
		var facts map[string]any
		if err := json.Unmarshal(encoded.Facts, &facts); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for field := range facts {
			if strings.EqualFold(field, "rank") || strings.EqualFold(field, "samples") {
				t.Errorf("%s: its facts have %s", name, field)
			}
		}
		out, err := move.Decode(encoded)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(in, out); diff != "" {
			t.Errorf("%s: -in +out %s", name, diff)
		}
	}
}

// The rank is the one of the enclosing part, not of the facts.
func TestRankIsThatOfTheEnclosingPart(t *testing.T) {
	facts := json.RawMessage(`{"rank": 7, "Rank": 8, "verified": true}`)
	p, err := move.Decode(&workload.Part{Rank: 2, Facts: facts})
	if err != nil || p.Rank != 2 || !p.Verified {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestInvalidParts(t *testing.T) {
	whole, err := initiator().Encode("c")
	if err != nil {
		t.Fatal(err)
	}
	server, err := (&move.Part{Rank: 5}).Encode("c")
	if err != nil {
		t.Fatal(err)
	}
	short := whole.Samples[:len(whole.Samples)-1]
	const unlike = "rank 5: exactly the initiators must have samples, but initiator is "
	for name, c := range map[string]struct {
		facts   json.RawMessage
		samples []byte
		wrong   string
	}{
		"an initiator without samples": {whole.Facts, nil, unlike + "true"},
		"a server with samples":        {server.Facts, whole.Samples, unlike + "false"},
		"a server with an empty file":  {server.Facts, []byte{}, unlike + "false"},
		"an empty file":                {whole.Facts, []byte{}, "samples of rank 5: not a samples file"},
		"samples that are cut short":   {whole.Facts, short, "samples of rank 5: not a samples file"},
		"no facts":                     {nil, nil, "facts of rank 5: "},
		"facts that are no JSON":       {json.RawMessage("{"), nil, "facts of rank 5: "},
		"facts of other types":         {json.RawMessage(`{"prep": 5}`), nil, "facts of rank 5: "},
	} {
		p, err := move.Decode(&workload.Part{Key: "c", Rank: 5, Facts: c.facts, Samples: c.samples})
		if err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %+v, %v; want %q", name, p, err, c.wrong)
		}
	}
}

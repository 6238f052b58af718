package ep

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/workload/ep/routing"
)

// Kernels write whole lines: every message and every source's counts begin at one. Their paths are probed with all
// bytes that a rank sends, because they send them at once.
func TestMessagesInMemoryOfGPUsAreWholeLines(t *testing.T) {
	for _, layout := range []string{"message", "rank", "packed"} {
		for _, dtype := range []string{"fp8", "bf16"} {
			v := suite("dispatch")
			v["fabric"], v["memory"], v["ranks"] = "cuda", "vram", int64(3)
			v["layout"], v["dispatch_dtype"] = layout, dtype
			s := decoded(t, v)
			table, err := s.Table()
			if err != nil {
				t.Fatal(err)
			}
			bytes, _ := s.Probes(table)
			for rank := range table.Ranks {
				l := s.LayOut(table, rank)
				places := l.At
				for _, m := range l.Come {
					places = append(places, m.At)
				}
				if len(places) < 100 || s.MessageRoom()%lineOfGPU != 0 {
					t.Fatalf("%s, %s: %d places of messages of %d bytes", layout, dtype, len(places), s.MessageRoom())
				}
				for _, at := range places {
					if (l.Parts[0].Sink+at)%lineOfGPU != 0 || l.Parts[0].Half%lineOfGPU != 0 {
						t.Errorf("%s, %s: something begins at %d of rank %d", layout, dtype, at, rank)
					}
				}
				sent := s.Sent(table)[0][rank]
				if all := toOthers(sent, rank); all < 1<<20 || int64(bytes[rank]) != all {
					t.Errorf("%s, %s: rank %d sends %v, probed with %d bytes", layout, dtype, rank, sent, bytes[rank])
				}
			}
		}
	}
}

// Kernels send every rank the counts of all experts and ranks, and the number of sending blocks.
func TestCountsOfKernelsAreOnTheWire(t *testing.T) {
	v := suite("dispatch")
	v["fabric"], v["memory"], v["ranks"], v["experts_per_rank"] = "cuda", "vram", int64(3), int64(4)
	s := decoded(t, v)
	table, err := s.Table()
	if err != nil {
		t.Fatal(err)
	}
	for from, row := range s.sizes(table).sent {
		for to, n := range row {
			if counts := n % lineOfGPU; counts != 4*(3*4+3+1) {
				t.Errorf("counts from rank %d to %d have %d bytes", from, to, counts)
			}
		}
	}
}

// Kernels count selections in 16 bits, also for routes of a file.
func TestSelectionsOfAFileForKernels(t *testing.T) {
	for tokens, want := range map[int]string{
		8191: "", 8192: "tokens 8192 with top_k 8: kernels of vram have at most 65535 selections of a rank, not 65536",
	} {
		experts := make([][]int32, 2)
		for rank := range experts {
			for i := range tokens * 8 {
				experts[rank] = append(experts[rank], int32(i%8))
			}
		}
		v := option.Values{
			"fabric": "cuda", "memory": "vram", "ranks": int64(2), "experts_per_rank": int64(4), "routing": "file",
			"tokens": "file", "top_k": int64(8),
			"route_table": compact + base64.StdEncoding.EncodeToString(routing.Compact(experts, 8)),
		}
		if _, err := Decode(v); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d tokens: %v, want %q", tokens, err, want)
		}
	}
}

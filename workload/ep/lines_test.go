package ep

import "testing"

// Kernels write whole lines: every message and every source's counts begin at one. Their paths are
// probed with all that a rank sends, because they send it at once.
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

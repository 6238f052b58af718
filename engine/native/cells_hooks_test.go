//go:build weirtest

package native

import (
	"testing"

	"pgregory.net/rapid"
)

// A cell has the requested number of requests; they cover it and differ by at most a cache line; requests of
// whole lines are aligned to lines.
func TestCellsAreCutEvenly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.OneOf(rapid.Uint64Range(1, 5000), rapid.Uint64Range(1, 1<<50)).Draw(t, "bytes")
		shards := min(bytes, rapid.Uint64Range(1, 2000).Draw(t, "shards"))
		each := bytes / shards
		if matrixEdge(bytes, shards, 0) != 0 || matrixEdge(bytes, shards, shards) != bytes {
			t.Fatalf("%d bytes in %d: from %d to %d", bytes, shards, matrixEdge(bytes, shards, 0),
				matrixEdge(bytes, shards, shards))
		}
		for k := range shards {
			from, to := matrixEdge(bytes, shards, k), matrixEdge(bytes, shards, k+1)
			if to <= from || to-from > each+64 || to-from+64 < each || each >= 64 && from%64 != 0 {
				t.Fatalf("%d bytes in %d: request %d from %d to %d", bytes, shards, k, from, to)
			}
		}
	})
}

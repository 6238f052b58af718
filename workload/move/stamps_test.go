package move

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/weir-bench/weir/results"
)

// A larger share is stamped of few requests, a smaller one of small requests, and the smallest of those with a flush
// per stamp.
func TestStamped(t *testing.T) {
	const endless = 0
	for _, c := range []struct {
		bytes, requests uint64
		flushed         bool
		every           int
		count           uint64
	}{
		{1, endless, false, 256, 0},
		{511, endless, false, 256, 0},
		{512, endless, false, 64, 0},
		{64<<10 - 1, endless, false, 64, 0},
		{64 << 10, endless, false, 16, 0},
		{256 << 10, endless, false, 4, 0},
		{1 << 20, endless, false, 1, 0},
		{1 << 40, endless, false, 1, 0},
		// at least 128, if there are as many
		{8, 1, false, 1, 1},
		{8, 128, false, 1, 128},
		{8, 129, false, 1, 128},
		{8, 255, false, 1, 128},
		{8, 256, false, 2, 128},
		{8, 128*256 - 1, false, 255, 128},
		{8, 1000 * 256, false, 256, 1000},
		{256 << 10, 128*4 - 1, false, 3, 128},
		{256 << 10, 130 * 4, false, 4, 130},
		{1 << 20, 1000, false, 1, 1000},
		// with a flush, 256 suffice for small requests
		{512, 129 * 64, true, 64, 129},
		{512, 256 * 64, true, 64, 256},
		{512, 256*256 - 1, true, 255, 256},
		{512, 257 * 256, true, 256, 257},
		{512, endless, true, 256, 0},
		{8, 128*256 - 1, true, 255, 128},
		{8, endless, true, 256, 0},
		{64 << 10, endless, true, 16, 0},
		{1 << 20, endless, true, 1, 0},
	} {
		every, count := Stamped(c.bytes, c.requests, c.flushed)
		if every != c.every || count != c.count {
			t.Errorf("of %d requests of %d bytes (flushed: %v) %d are stamped, one in %d; want %d, one in %d",
				c.requests, c.bytes, c.flushed, count, every, c.count, c.every)
		}
	}
}

// More requests have at least as many stamps, so a quantile that is told of some requests is told of more.
func TestStampsNeverDecrease(t *testing.T) {
	check := func(bytes, requests, more uint64, flushed bool) bool {
		_, few := Stamped(bytes, requests, flushed)
		every, many := Stamped(bytes, requests+more, flushed)
		return few <= many && few <= requests && few >= min(requests, fewestStamps) &&
			uint64(every) == (requests+more)/many
	}
	for _, bytes := range []uint64{8, 512, 64 << 10, 256 << 10, 1 << 20} {
		for _, flushed := range []bool{false, true} {
			told := false
			for n := uint64(1); n <= 200_000; n++ {
				if !check(bytes, n, 1, flushed) {
					t.Fatalf("%d requests of %d bytes have more stamps than %d (flushed: %v)", n, bytes, n+1, flushed)
				}
				_, count := Stamped(bytes, n, flushed)
				if now := int64(count) >= results.P99.Enough(); told && !now {
					t.Fatalf("p99 of %d requests of %d bytes is not told, but of fewer", n, bytes)
				} else if now {
					told = true
				}
			}
			if !told {
				t.Errorf("p99 of %d bytes is never told", bytes)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		bytes := rapid.Uint64Range(1, 2<<20).Draw(t, "bytes")
		requests := rapid.Uint64Range(1, math.MaxUint32).Draw(t, "requests")
		more := rapid.Uint64Range(0, math.MaxUint32).Draw(t, "more")
		if flushed := rapid.Bool().Draw(t, "flushed"); !check(bytes, requests, more, flushed) {
			t.Fatalf("%d requests of %d bytes have more stamps than %d", requests, bytes, requests+more)
		}
	})
}

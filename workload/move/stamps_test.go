package move

import "testing"

// A larger share is stamped of few requests, a smaller one of small requests, and the smallest of those with a flush
// per stamp.
func TestStampedOneIn(t *testing.T) {
	const endless = 0
	for _, c := range []struct {
		bytes, requests uint64
		flushed         bool
		want            int
	}{
		{1, endless, false, 256},
		{511, endless, false, 256},
		{512, endless, false, 64},
		{64<<10 - 1, endless, false, 64},
		{64 << 10, endless, false, 16},
		{256 << 10, endless, false, 4},
		{1 << 20, endless, false, 1},
		{1 << 40, endless, false, 1},
		// at least 64, if there are as many
		{8, 64 * 256, false, 256},
		{8, 64*256 - 1, false, 64},
		{8, 64 * 64, false, 64},
		{8, 64*64 - 1, false, 16},
		{8, 64*4 - 1, false, 1},
		{8, 1, false, 1},
		{256 << 10, 64 * 4, false, 4},
		{256 << 10, 64*4 - 1, false, 1},
		// with a flush, 256 suffice for small requests
		{512, 256 * 256, true, 256},
		{512, 256*256 - 1, true, 64},
		{512, endless, true, 256},
		{8, 64*256 - 1, true, 64},
		{8, endless, true, 256},
		{64 << 10, endless, true, 16},
		{1 << 20, endless, true, 1},
	} {
		if got := StampedOneIn(c.bytes, c.requests, c.flushed); got != c.want {
			t.Errorf("of %d requests of %d bytes (flushed: %v) one in %d is stamped, want one in %d", c.requests,
				c.bytes, c.flushed, got, c.want)
		}
	}
}

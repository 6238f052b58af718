package stored

import (
	"regexp"
	"testing"
	"time"
)

func TestSessionIDsAreUniqueAndHarmless(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 15, 0, 0, time.UTC)
	a, b := SessionID(now, "libfabric p5/é"), SessionID(now, "libfabric p5/é")
	if !regexp.MustCompile(`^20261121-101500-libfabric-p5---[0-9a-f]{4}$`).MatchString(a) {
		t.Errorf("id %q", a)
	}
	if a == b {
		t.Errorf("%q twice", a)
	}
}

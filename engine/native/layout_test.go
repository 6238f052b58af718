package native

import (
	"strings"
	"testing"
)

// Probe areas overlap with nothing that peers use, and both ends of compared copies use different lines of a
// first-level cache.
func TestLayout(t *testing.T) {
	for _, buffer := range []uint64{128, 4096, 1 << 20, 16 << 20, 5<<30 + 128} {
		r := &rank{options: options(8, withPattern("ring", 3)), buffer: buffer}
		l, err := r.layout(1)
		if err != nil {
			t.Fatal(err)
		}
		if l.first+buffer > l.source || buffer > l.probe || l.probe+buffer > l.sink || l.source-l.first < 4<<20 ||
			l.sink-l.probe < 4<<20 {
			t.Errorf("buffers of %d: %+v", buffer, l)
		}
		if l.first%(1<<16) == 0 || (l.probe-l.first)%(1<<16) == 0 || l.probe%(1<<16) == 0 || l.first%4096 != 0 ||
			l.probe%4096 != 0 {
			t.Errorf("buffers of %d: source from %#x on, probes at %#x", buffer, l.first, l.probe)
		}
	}
	r := &rank{options: options(8, withPattern("ring", 3)), buffer: 1 << 60}
	if _, err := r.layout(1); err != nil {
		t.Error(err)
	}
	r.buffer++
	if _, err := r.layout(1); err == nil || !strings.Contains(err.Error(), "do not fit into any memory") {
		t.Errorf("got %v", err)
	}
}

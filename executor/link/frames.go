package link

import (
	"encoding/binary"
	"fmt"
	"time"
)

// frames follows the frames of yamux in what a peer sends, and holds the peer to how
// many it may send of those that cost memory here before anybody reads them: yamux
// starts a goroutine for each question whether we are alive, and keeps each stream that
// is opened.
type frames struct {
	header  [frameHeader]byte
	have    int    // bytes of the header so far
	payload uint64 // bytes of the frame that are still to come
	asked   allowance
	opened  allowance
}

// The header of a frame: version, type, flags (2 bytes), stream (4), length (4).
const (
	frameHeader = 12
	typeData    = 0
	typePing    = 2
	flagSYN     = 1
)

func newFrames() *frames {
	// in order are some 3 questions a second at the shortest silence that tests use a
	// hundred, and a stream for each connection to etcd
	return &frames{asked: allowance{most: 200, each: 10 * time.Millisecond}, opened: allowance{most: 32, each: 200 * time.Millisecond}}
}

// see takes note of bytes that have come.
func (f *frames) see(b []byte, now time.Duration) error {
	for len(b) > 0 {
		if f.payload > 0 {
			n := min(f.payload, uint64(len(b)))
			f.payload -= n
			b = b[n:]
			continue
		}
		n := copy(f.header[f.have:], b)
		f.have += n
		b = b[n:]
		if f.have < frameHeader {
			return nil
		}
		f.have = 0
		if err := f.frame(now); err != nil {
			return err
		}
	}
	return nil
}

func (f *frames) frame(now time.Duration) error {
	kind, syn := f.header[1], binary.BigEndian.Uint16(f.header[2:])&flagSYN != 0
	switch {
	case kind == typeData:
		f.payload = uint64(binary.BigEndian.Uint32(f.header[8:]))
	case kind == typePing && syn && !f.asked.take(now):
		return fmt.Errorf("it asks for signs of life more than %d times at once", f.asked.most)
	}
	if kind != typePing && syn && !f.opened.take(now) {
		return fmt.Errorf("it opens more than %d streams at once", f.opened.most)
	}
	return nil
}

// allowance lets something happen so many times at once, and again once after each
// interval.
type allowance struct {
	most int
	each time.Duration
	used int
	last time.Duration
}

func (a *allowance) take(now time.Duration) bool {
	if back := int((now - a.last) / a.each); back > 0 {
		a.used = max(0, a.used-back)
		a.last = now
	}
	if a.used >= a.most {
		return false
	}
	a.used++
	return true
}

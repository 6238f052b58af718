package link

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"
)

// A connection that cannot be made again may be silent for as long as a peer may; another one ends
// before, and has what is left to come back.
func TestAPipeHasTheWholeSilence(t *testing.T) {
	p := timeoutsOf(time.Second)
	endsAfter := func(raw net.Conn) time.Duration {
		from := now()
		w := newWire(raw, tls.Client(raw, &tls.Config{}), p)
		<-w.ended
		return now() - from
	}
	r, w := io.Pipe()
	defer w.Close()
	if took := endsAfter(Pipe(r, w)); took < p.silence-p.silence/10 {
		t.Errorf("a pipe ended after %v of silence", took)
	}
	here, there := net.Pipe()
	defer there.Close()
	if took := endsAfter(here); took < p.idle-p.idle/10 || took >= p.silence {
		t.Errorf("a connection ended after %v of silence", took)
	}
}

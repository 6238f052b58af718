package link

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// What is not the protocol, or floods it, ends the connection at once.
func TestHostileFrames(t *testing.T) {
	s := serve(t, func(o *ServerOptions) { o.Lend = echo }, 2*limit)
	for what, attack := range map[string]func(c *tls.Conn, f *http2.Framer){
		"garbage": func(c *tls.Conn, f *http2.Framer) { _, _ = c.Write(content(100, 1)) },
		"a frame of 16 M": func(c *tls.Conn, f *http2.Framer) {
			_, _ = c.Write([]byte{0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1})
		},
		"many pings": func(c *tls.Conn, f *http2.Framer) {
			for f.WritePing(false, [8]byte{}) == nil {
			}
		},
		"a head without end": func(c *tls.Conn, f *http2.Framer) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte{0x82}})
			for f.WriteContinuation(1, false, bytes.Repeat([]byte{0x82}, 16<<10)) == nil {
			}
		},
		"more than the window": func(c *tls.Conn, f *http2.Framer) {
			beginCall(t, f, 1, lendCall)
			for f.WriteData(1, false, make([]byte, 16<<10)) == nil {
			}
		},
		"etcd before a name": func(c *tls.Conn, f *http2.Framer) { beginCall(t, f, 1, lendCall) },
	} {
		t.Run(what, func(t *testing.T) {
			c, f := framed(t, s)
			go attack(c, f)
			dropped(t, c)
		})
	}
	if got := s.seen(); len(got) != 0 {
		t.Errorf("%q", got)
	}
}

// Calls above the limit are refused, and none of them is kept.
func TestManyCalls(t *testing.T) {
	s := serve(t, nil, limit)
	_, f := framed(t, s)
	const calls = 100
	go func() {
		for i := range uint32(calls) {
			beginCall(t, f, 2*i+1, heartbeatCall)
		}
	}()
	for refused := 0; refused < calls-maxStreams; {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatalf("after %d calls were refused: %v", refused, err)
		}
		if r, ok := frame.(*http2.RSTStreamFrame); ok && r.ErrCode == http2.ErrCodeRefusedStream {
			refused++
		}
	}
}

// An agent that sends without end and reads nothing is stopped when its acknowledgements
// find no room, and nobody else notices.
func TestAnAgentThatDoesNotRead(t *testing.T) {
	took := map[string]*atomic.Int64{"n1": {}, "n2": {}}
	s := serve(t, func(o *ServerOptions) {
		o.Silence = 2 * time.Second
		// slower than the sender of acknowledgements, so that one covers few messages and their room is soon full
		o.Take = func(node string, _ Message) error {
			time.Sleep(100 * time.Microsecond)
			took[node].Add(1)
			return nil
		}
	}, limit)
	c, f := framed(t, s, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 2048})
	beginCall(t, f, 1, attachCall)
	say := func(word *frame) error {
		encoded, err := codec{}.Marshal(word)
		if err != nil {
			return err
		}
		b := encoded.Materialize()
		return f.WriteData(1, false, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b))), b...))
	}
	err := say(helloOf("n1"))
	for n := int64(1); err == nil; n++ {
		// not beyond the window of the coordinator, which is another fault, unless it takes nothing any more
		for range 50 {
			if n-took["n1"].Load() < 100 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		err = say(pieceOf(uint64(n), &start{Body: 100}, 100))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the coordinator bears it")
	}
	c.Close()
	if n := took["n1"].Load(); n < 100 {
		t.Errorf("%d of its messages are taken", n)
	}
	l := dial(t, s.options(t, "n2"))
	if err := l.Send(Message{Head: []byte("k")}); err != nil {
		t.Fatal(err)
	}
	if err := goodbye(l); err != nil || took["n2"].Load() != 1 {
		t.Errorf("another agent: %v", err)
	}
}

// framed is a peer that has come through TLS and begun HTTP/2.
func framed(t *testing.T, s *side, settings ...http2.Setting) (*tls.Conn, *http2.Framer) {
	t.Helper()
	c := secured(t, s)
	f := http2.NewFramer(c, c)
	if _, err := c.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteSettings(settings...); err != nil {
		t.Fatal(err)
	}
	return c, f
}

// beginCall begins a call, as gRPC does.
func beginCall(t *testing.T, f *http2.Framer, stream uint32, name string) {
	var block bytes.Buffer
	e := hpack.NewEncoder(&block)
	for _, h := range [][2]string{
		{":method", "POST"}, {":scheme", "http"}, {":path", "/" + serviceName + "/" + name}, {":authority", "x"},
		{"content-type", "application/grpc"}, {"te", "trailers"},
	} {
		if err := e.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}); err != nil {
			t.Error(err)
		}
	}
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true})
}

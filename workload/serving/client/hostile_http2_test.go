package client

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/serving/load"
)

// lying is the address of a server of HTTP/2 that greets with settings, and answers each request with lies.
func lying(t *testing.T, settings []http2.Setting, lie func(f *http2.Framer, stream uint32)) string {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { at.Close() })
	go func() {
		for {
			conn, err := at.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				f := http2.NewFramer(conn, conn)
				_, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface)))
				if err == nil {
					err = f.WriteSettings(settings...)
				}
				for err == nil {
					var frame http2.Frame
					if frame, err = f.ReadFrame(); err != nil {
						return
					}
					switch frame := frame.(type) {
					case *http2.SettingsFrame:
						if !frame.IsAck() {
							err = f.WriteSettingsAck()
						}
					case *http2.HeadersFrame:
						lie(f, frame.StreamID)
					}
				}
			}()
		}
	}()
	return "http://" + at.Addr().String()
}

// head writes the head of an answer.
func head(f *http2.Framer, stream uint32) {
	var text bytes.Buffer
	e := hpack.NewEncoder(&text)
	_ = e.WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
	_ = e.WriteField(hpack.HeaderField{Name: "content-type", Value: "text/event-stream"})
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: text.Bytes(), EndHeaders: true})
}

// A client of 16 streams of HTTP/2 ends in its time with 200 MB at most, and takes no lie for an answer.
func TestHostileHTTP2(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	block := []byte(strings.Repeat("x", 16<<10))
	for name, c := range map[string]struct {
		settings []http2.Setting
		lie      func(f *http2.Framer, stream uint32)
		says     string // "": any error
	}{
		"a reset": {lie: func(f *http2.Framer, stream uint32) {
			_ = f.WriteRSTStream(stream, http2.ErrCodeInternal)
		}, says: "INTERNAL_ERROR"},
		"a reset after the head": {lie: func(f *http2.Framer, stream uint32) {
			head(f, stream)
			_ = f.WriteRSTStream(stream, http2.ErrCodeEnhanceYourCalm)
		}, says: "ENHANCE_YOUR_CALM"},
		"refused each time": {lie: func(f *http2.Framer, stream uint32) {
			_ = f.WriteRSTStream(stream, http2.ErrCodeRefusedStream)
		}},
		"resets of streams that are not": {lie: func(f *http2.Framer, _ uint32) {
			for i := uint32(1001); f.WriteRSTStream(i, http2.ErrCodeCancel) == nil; i += 2 {
			}
		}},
		"a window of a stream that overflows": {lie: func(f *http2.Framer, stream uint32) {
			_ = f.WriteWindowUpdate(stream, 1<<31-1)
			_ = f.WriteWindowUpdate(stream, 1<<31-1)
		}},
		"a window of the connection that overflows": {lie: func(f *http2.Framer, _ uint32) {
			_ = f.WriteWindowUpdate(0, 1<<31-1)
			_ = f.WriteWindowUpdate(0, 1<<31-1)
		}},
		"a window of nothing": {
			settings: []http2.Setting{{ID: http2.SettingInitialWindowSize}},
			lie:      func(*http2.Framer, uint32) {}, says: "it did not end within 1.5s",
		},
		"windows that change": {lie: func(f *http2.Framer, _ uint32) {
			for size := uint32(0); ; size ^= 1 << 30 {
				if f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: size}) != nil {
					return
				}
			}
		}},
		"more than the window": {lie: func(f *http2.Framer, stream uint32) {
			head(f, stream)
			for f.WriteData(stream, false, block) == nil {
			}
		}},
		"data of a stream that is not": {lie: func(f *http2.Framer, stream uint32) {
			_ = f.WriteData(stream+100, false, block)
		}},
		"data of nothing": {lie: func(f *http2.Framer, stream uint32) {
			head(f, stream)
			for f.WriteData(stream, false, nil) == nil {
			}
		}},
		"a head without end": {lie: func(f *http2.Framer, stream uint32) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: []byte{0x88}})
			for f.WriteContinuation(stream, false, bytes.Repeat([]byte{0x88}, 16<<10)) == nil {
			}
		}},
		"pings": {lie: func(f *http2.Framer, _ uint32) {
			for f.WritePing(false, [8]byte{}) == nil {
			}
		}},
		"a farewell to all": {lie: func(f *http2.Framer, _ uint32) {
			_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
		}},
		"a push": {lie: func(f *http2.Framer, stream uint32) {
			_ = f.WritePushPromise(http2.PushPromiseParam{StreamID: stream, PromiseID: 2, BlockFragment: []byte{0x82},
				EndHeaders: true})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := underAttack(t, attacked{URL: lying(t, c.settings, c.lie), Stream: true, HTTP2: true})
			t.Logf("%.0f MB, %d outcomes", got.Peak/1e6, len(got.Outcomes))
			if got.Peak > 200e6 {
				t.Errorf("the client has %.0f MB", got.Peak/1e6)
			}
			said := fmt.Sprint(got.Outcomes)
			if _, ok := got.Outcomes[fmt.Sprintf("%d ", load.OK)]; ok || len(got.Outcomes) == 0 ||
				!strings.Contains(said, c.says) {
				t.Errorf("%.500s", said)
			}
		})
	}
}

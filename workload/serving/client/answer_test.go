package client

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/test/testserver"
	"github.com/weir-bench/weir/workload/serving/load"
)

// bare answers with these bytes, and keeps the connection open for a time.
func bare(text string, open time.Duration) func(*testserver.Answer) {
	return func(a *testserver.Answer) {
		a.Bare(func(conn net.Conn) {
			_, _ = io.WriteString(conn, text)
			time.Sleep(open)
		})
	}
}

// An answer with a status 1xx is an error at once, within the limits of a request.
func TestStatus1xx(t *testing.T) {
	const early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
	const good = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 26\r\n\r\n" +
		`{"choices":[{"text":"x"}]}`
	for name, c := range map[string]struct {
		script  func(*testserver.Answer)
		outcome load.Outcome
		status  int
		text    string
	}{
		"101": {
			bare("HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", 2*time.Second),
			load.Status, 101, "101 Switching Protocols: not an answer",
		},
		"103, and no more":   {bare(early, 0), load.Status, 103, "103 Early Hints, and no answer after it"},
		"103, and silence":   {bare(early, 5*time.Second), load.Timeout, 103, "nothing came within 2s"},
		"103, and an answer": {bare(early+good, 0), load.OK, 200, ""},
		"103 without an end": {
			bare(strings.Repeat(early, 1000), 0), load.Status, 103, "too many answers of status 1xx",
		},
		"100, and an answer": {bare("HTTP/1.1 100 Continue\r\n\r\n"+good, 0), load.OK, 200, ""},
		"199, and no more":   {bare("HTTP/1.1 199 X\r\n\r\n", 0), load.Status, 199, "and no answer after it"},
		"a head without end": {
			bare("HTTP/1.1 200 OK\r\n"+strings.Repeat("X: y\r\n", 1<<17), 0), load.Malformed, 0, "exceeded",
		},
		"an endless trailer": {
			bare("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"+strings.Repeat("X: y\r\n", 1<<17), 0),
			load.Malformed, 200, "",
		},
		"an endless chunk": {
			bare("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;"+strings.Repeat("x", 1<<20), 0),
			load.Malformed, 200, "",
		},
		"a chunk after chunk": {
			bare("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+
				strings.Repeat("1;"+strings.Repeat("x", 999)+"\r\n\n\r\n", 1<<12), 0),
			load.Malformed, 200, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begin := time.Now()
			rec := send(t, Config{First: 2 * time.Second, Total: 10 * time.Second}, request(0), c.script)
			if rec.Outcome != c.outcome || rec.Status != c.status || !strings.Contains(rec.Error, c.text) {
				t.Errorf("%+v", rec)
			}
			if took := time.Since(begin); took > 9*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// zipped compresses pieces, each of which can be unpacked when it has arrived.
func zipped(pieces ...string) (out []string) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for _, piece := range pieces {
		_, _ = io.WriteString(z, piece)
		_ = z.Flush()
		out = append(out, b.String())
		b.Reset()
	}
	_ = z.Close()
	return append(out, b.String())
}

// A stream that is compressed without request is unpacked as it arrives, with its times.
func TestGzip(t *testing.T) {
	const gap = 40 * time.Millisecond
	event := func(i int) string { return fmt.Sprintf(`data: {"choices":[{"text":"w%d"}]}`+"\n\n", i) }
	rec := send(t, Config{Stream: true}, request(0), func(a *testserver.Answer) {
		a.Header("Content-Encoding", "gzip")
		a.Stream()
		for _, piece := range zipped(event(1), event(2), event(3)+"data: [DONE]\n\n") {
			a.Raw(piece)
			time.Sleep(gap)
		}
	})
	if rec.Outcome != load.OK || rec.Output != 3 || rec.Last-rec.First < gap.Nanoseconds() {
		t.Errorf("%+v", rec)
	}
	rec = send(t, Config{}, request(0), func(a *testserver.Answer) {
		a.Header("Content-Encoding", "gzip")
		a.Head(200, "application/json")
		a.Raw(strings.Join(zipped(`{"choices":[{"text":"x"}]}`), ""))
	})
	if rec.Outcome != load.OK {
		t.Errorf("%+v", rec)
	}
}

// The error of an invalid answer has its type, its encoding and its first bytes.
func TestErrorsNameTheFormOfAnAnswer(t *testing.T) {
	answer := func(kind, encoding, text string) func(*testserver.Answer) {
		return func(a *testserver.Answer) {
			if encoding != "" {
				a.Header("Content-Encoding", encoding)
			}
			a.Head(200, kind)
			a.Raw(text)
		}
	}
	for name, c := range map[string]struct {
		stream bool
		script func(*testserver.Answer)
		texts  []string
	}{
		"HTML": {
			true, answer("text/html; charset=utf-8", "", "<html><body>Sign in"),
			[]string{"begins with <html><body>Sign in", "(Content-Type text/html)"},
		},
		"lines of JSON": {
			true, answer("application/x-ndjson", "", `{"done":true}`+"\n"),
			[]string{`JSON of another form: {"done":true}`, "(Content-Type application/x-ndjson)"},
		},
		"a problem": {
			true, answer("application/problem+json", "", `{"detail":"no model"}`),
			[]string{"the endpoint says: no model"},
		},
		"br":   {true, answer("text/event-stream", "br", "x"), []string{"Content-Encoding br"}},
		"zstd": {false, answer("application/json", "zstd", "x"), []string{"Content-Encoding zstd"}},
		"no gzip": {
			true, answer("text/event-stream", "gzip", "data: [DONE]\n\n"),
			[]string{"Content-Encoding gzip but is not gzip"},
		},
		"gzip of HTML": {
			true, answer("text/html", "gzip", strings.Join(zipped("<html>"), "")),
			[]string{"begins with <html>", "Content-Type text/html, Content-Encoding gzip"},
		},
		"HTML, whole": {
			false, answer("text/html", "", "<html>"), []string{"no JSON: <html>", "(Content-Type text/html)"},
		},
		"events, whole": {
			false, answer("text/event-stream", "", "data: [DONE]\n\n"),
			[]string{"no JSON: data: [DONE]", "(Content-Type text/event-stream)"},
		},
		"empty": {
			true, answer("text/plain", "", ""), []string{"without a finish reason", "(Content-Type text/plain)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rec := send(t, Config{Stream: c.stream}, request(0), c.script)
			for _, text := range c.texts {
				if rec.Outcome == load.OK || !strings.Contains(rec.Error, text) {
					t.Errorf("%+v", rec)
				}
			}
		})
	}
}

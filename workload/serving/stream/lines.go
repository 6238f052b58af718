package stream

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxEvent limits a line, an event, and a text of an answer that is no stream.
const maxEvent = 1 << 20

// lines parses an event stream as in the HTML standard, section 9.2.
type lines struct {
	line    []byte // an incomplete line
	data    []byte // of the incomplete event
	name    string // of that event; "" if it has none
	comment string // the last comment after the name
	begun   bool   // the first line has ended
	ended   bool   // the last byte was a carriage return, which ends a line also without a line feed
}

var byteOrderMark = []byte("\uFEFF")

// feed parses the bytes of one read.
func (l *lines) feed(b []byte, event func(name string, data []byte) error) error {
	b = l.unreturned(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			if len(l.line)+len(b) > maxEvent {
				return malformed("a line of more than %d bytes", maxEvent)
			}
			l.line = append(l.line, b...)
			return nil
		}
		line := b[:i]
		if len(l.line) > 0 {
			l.line = append(l.line, line...)
			line = l.line
		}
		b = b[i+1:]
		if !l.begun {
			line, l.begun = bytes.TrimPrefix(line, byteOrderMark), true
		}
		if err := l.take(line, event); err != nil {
			return err
		}
		l.line = l.line[:0]
	}
	return nil
}

// unreturned makes a line feed of each end of a line, in place.
func (l *lines) unreturned(b []byte) []byte {
	if !l.ended && bytes.IndexByte(b, '\r') < 0 {
		return b
	}
	out := b[:0]
	for _, c := range b {
		if c == '\n' && l.ended {
			l.ended = false
			continue
		}
		if l.ended = c == '\r'; l.ended {
			c = '\n'
		}
		out = append(out, c)
	}
	return out
}

// rest ends an answer without an empty line after its last event. An event that was cut is ignored.
func (l *lines) rest(event func(name string, data []byte) error) error {
	whole := func(name string, data []byte) error {
		if !fails(name) && !isDone(data) && !jsontext.Value(data).IsValid(lenient...) {
			return nil
		}
		return event(name, data)
	}
	if err := l.take(l.line, whole); err != nil {
		return err
	}
	return l.complete(whole)
}

// several reports whether the event that has not ended is rather several.
func (l *lines) several() bool { return bytes.Contains(l.data, []byte("\n")) }

// take parses a line.
func (l *lines) take(line []byte, event func(name string, data []byte) error) error {
	if len(line) == 0 {
		return l.complete(event)
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		if len(l.data)+len(value) > maxEvent {
			return malformed("an event of more than %d bytes", maxEvent)
		}
		if len(l.data) > 0 {
			l.data = append(l.data, '\n')
		}
		l.data = append(l.data, value...)
	case "event":
		l.name, l.comment = string(value), ""
	case "":
		if l.name != "" {
			l.comment = Words(string(value))
		}
	}
	return nil
}

// complete ends an event. One without data is ignored, unless its name is one of an error.
func (l *lines) complete(event func(name string, data []byte) error) (err error) {
	switch {
	case len(l.data) > 0:
		err = event(l.name, l.data)
	case fails(l.name):
		err = event(l.name, []byte(l.comment))
	}
	l.data, l.name = l.data[:0], ""
	return err
}

// fails reports whether the name of an event is one of an error.
func fails(name string) bool {
	if name == "" || name == "message" {
		return false
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"error", "fail", "exception", "abort", "cancel"},
		func(part string) bool { return strings.Contains(name, part) })
}

// idles reports whether the name of an event, or its type, is one of a keep-alive.
func idles(name string) bool {
	switch strings.ToLower(name) {
	case "ping", "heartbeat", "keepalive", "keep-alive", "keep_alive":
		return true
	}
	return false
}

var doneMark = []byte("[DONE]")

// isDone reports whether data is the end of an answer; some servers write it as a text of JSON.
func isDone(data []byte) bool { return bytes.Equal(bytes.Trim(data, "\" \t\n"), doneMark) }

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
}

var byteOrderMark = []byte("\uFEFF")

// feed parses the bytes of one read.
func (l *lines) feed(b []byte, event func(name string, data []byte) error) error {
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
		if err := l.take(bytes.TrimSuffix(line, []byte("\r")), event); err != nil {
			return err
		}
		l.line = l.line[:0]
	}
	return nil
}

// rest ends an answer without an empty line after its last event. An event that was cut is ignored.
func (l *lines) rest(event func(name string, data []byte) error) error {
	whole := func(name string, data []byte) error {
		if !fails(name) && !isDone(data) && !jsontext.Value(data).IsValid(lenient...) {
			return nil
		}
		return event(name, data)
	}
	if err := l.take(bytes.TrimSuffix(l.line, []byte("\r")), whole); err != nil {
		return err
	}
	return l.complete(whole)
}

// several reports whether the event that has not ended is rather several.
func (l *lines) several() bool {
	return bytes.Contains(l.data, []byte("\n")) || bytes.Contains(l.line, []byte("\r"))
}

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

func isDone(data []byte) bool { return bytes.Equal(bytes.TrimSpace(data), doneMark) }

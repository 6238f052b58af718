package main

import (
	"encoding/json"
	"fmt"
	"io"

	"weir/executor/event"
)

// eventStream writes events as NDJSON. It stops at the first failure, which it
// keeps: a reader that went away must not end the measurement.
type eventStream struct {
	w     io.Writer
	close func() error
	err   error
}

func (s *eventStream) write(e event.Event) {
	if s.w == nil || s.err != nil {
		return
	}
	if err := json.NewEncoder(s.w).Encode(e); err != nil {
		s.err = fmt.Errorf("writing events: %w", err)
	}
}

// Close closes the stream's file.
func (s *eventStream) Close() error {
	if s.close != nil {
		return s.close()
	}
	return nil
}

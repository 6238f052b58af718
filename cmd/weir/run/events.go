package run

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"weir/cmd/weir/exit"
	"weir/executor/event"
	"weir/printable"
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

// openEvents opens the stream of --events; without it, events go nowhere.
func (f *flags) openEvents(cmd *cobra.Command) (*eventStream, error) {
	switch f.events {
	case "":
		return &eventStream{}, nil
	case "-":
		return &eventStream{w: &printable.JSON{To: cmd.OutOrStdout()}}, nil
	}
	file, err := os.Create(f.events)
	if err != nil {
		return nil, exit.Usage("--events: %w", err)
	}
	return &eventStream{w: file, close: file.Close}, nil
}

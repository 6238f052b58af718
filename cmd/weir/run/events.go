package run

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/internal/printable"
)

// eventStream writes events as NDJSON. It keeps its first error and stops writing: a reader that
// closes the stream must not end the measurement.
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

// openEvents opens the stream of --events; without the flag, it discards events.
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

package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/internal/written"
)

// Whether a service wrote a file does not depend on the time of day, which may be set between its start and the file.
func TestUnproven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "proof")
	started := time.Now()
	write := func(text string, at time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, at); err != nil {
			t.Fatal(err)
		}
	}
	if got := unproven(path, written.State(path), started); !strings.Contains(got, "there is no file") {
		t.Errorf("no file: %q", got)
	}
	for _, by := range []time.Duration{-24 * time.Hour, -time.Hour, 0, time.Hour} {
		os.Remove(path)
		write("old", started.Add(by+time.Nanosecond))
		before := written.State(path)
		if got := unproven(path, before, started); !strings.Contains(got, "by another service") {
			t.Errorf("another service wrote it, by a clock %v off: %q", by, got)
		}
		write("new!", started.Add(by))
		if got := unproven(path, before, started); got != "" {
			t.Errorf("this service wrote it, by a clock %v off: %q", by, got)
		}
		if got := unproven(path, "", started); got != "" {
			t.Errorf("this service made it, by a clock %v off: %q", by, got)
		}
	}
	seconds := started.Truncate(time.Second)
	write("same", seconds)
	if got := unproven(path, written.State(path), started); got != "" {
		t.Errorf("a file system of whole seconds: %q", got)
	}
}

// The beginning of a launch and the lines of a log are of one clock.
func TestObservationsAreOfTheClockOfTheLog(t *testing.T) {
	log, _ := created(t, "a.log")
	a := &Agent{}
	ahead := time.Now().Add(24 * time.Hour) // as if the clock was set back since
	if err := a.followers.follow(log, logwatch.Spec{}, steady.New(ahead)); err != nil {
		t.Fatal(err)
	}
	for _, begin := range []bool{true, false} {
		o := a.observe(t.Context(), ObserveTask{Log: "a.log", Begin: begin}, nil)
		if o.Error != "" || o.At.Before(ahead) {
			t.Errorf("%v: at %v, %s", begin, o.At, o.Error)
		}
	}
}

package command

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/logwatch"
	"github.com/weir-bench/weir/internal/steady"
	"github.com/weir-bench/weir/workload/command"
)

// A program that a fatal signal ended before weir stopped it is the cause, although its rank was told to stop before it
// noticed.
func TestProgramKilledBeforeItWasStoppedIsTheCause(t *testing.T) {
	stopped := &engine.Error{Phase: "run", Peer: -1, Code: -int(unix.ECANCELED), Text: "told to stop"}
	for name, test := range map[string]struct {
		script string
		cause  string // "": it was stopped
	}{
		"killed":          {"kill -KILL $$", "killed by signal 9 (SIGKILL)"},
		"crashed":         {"kill -SEGV $$", "killed by signal 11 (SIGSEGV)"},
		"killed in shell": {"sh -c 'kill -KILL $$'; exit 137", "exit status 137"},
		"aborted":         {"kill -ABRT $$", ""},
		"hung up":         {"kill -PIPE $$", ""},
		"failed":          {"exit 1", ""},
		"runs":            {"exec sleep 60", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := start([]string{"sh", "-c", test.script}, os.Environ(), outputMode{})
			if err != nil {
				t.Fatal(err)
			}
			for deadline := time.Now().Add(30 * time.Second); name != "runs" && !p.hasEnded(); {
				if time.Now().After(deadline) {
					t.Fatal("the program did not end")
				}
				time.Sleep(time.Millisecond)
			}
			signal.Notify(make(chan os.Signal, 1), unix.SIGTERM) // where the test leads a process group
			p.finish(unix.SIGTERM, time.Second)
			r := &rank{program: p, role: &command.Role{Program: command.Program{Name: "server"}}}
			e := r.fault(p.words(stopped)).(*engine.Error)
			if test.cause == "" {
				if !errors.Is(e, stopped) || e.Killed {
					t.Errorf("%+v", e)
				}
			} else if !e.Killed || !strings.HasPrefix(e.Text, "role server: "+test.cause) {
				t.Errorf("%+v", e)
			}
		})
	}
}

// The lines of a log have the times of the clock that the agent gives.
func TestLinesAreOfTheClockOfTheAgent(t *testing.T) {
	var log bytes.Buffer
	s := &stamper{to: &log, stamped: true, clock: steady.Of(steady.New(time.Now().Add(24 * time.Hour)).Ahead())}
	begin := time.Now()
	s.write([]byte("a\nb"))
	s.write([]byte("c\n"))
	for line := range strings.Lines(log.String()) {
		at, err := time.Parse(logwatch.StampLayout, strings.Fields(line)[0])
		if ahead := at.Sub(begin.Add(24 * time.Hour)).Abs(); err != nil || ahead > time.Minute {
			t.Errorf("%q: %v off, %v", line, ahead, err)
		}
	}
	if n := strings.Count(log.String(), "Z "); n != 2 {
		t.Errorf("%d times in %q", n, log.String())
	}
}

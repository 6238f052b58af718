package exit

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func raise(t *testing.T) {
	t.Helper()
	if err := unix.Kill(unix.Getpid(), unix.SIGINT); err != nil {
		t.Fatal(err)
	}
}

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(5 * time.Second):
		t.Fatalf("%s did not come", what)
	}
}

func without(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
		t.Errorf("%s came", what)
	case <-time.After(100 * time.Millisecond):
	}
}

// timeout(1) signals its child and then the child's process group: that is one signal, whatever its kind.
func TestSecondSignalKillsAfterASecond(t *testing.T) {
	ctx, kill, stop := Abortable(t.Context(), 0)
	defer stop()
	raise(t)
	within(t, "the end", ctx.Done())
	raise(t)
	without(t, "the kill by an echo", kill)
	time.Sleep(echo)
	raise(t)
	within(t, "the kill", kill)
	if err := context.Cause(ctx); !errors.Is(err, interrupted) {
		t.Errorf("cause %v", err)
	}
}

func TestSignalAfterTheTimeoutKills(t *testing.T) {
	ctx, kill, stop := Abortable(t.Context(), time.Millisecond)
	defer stop()
	within(t, "the timeout", ctx.Done())
	raise(t)
	without(t, "the kill by a signal with the timeout", kill)
	time.Sleep(echo)
	raise(t)
	within(t, "the kill", kill)
}

// A signal decides, whatever was found by then; a panic is still one where main sees it.
func TestInterruptible(t *testing.T) {
	started, never := make(chan struct{}), make(chan struct{})
	go func() { <-started; raise(t) }()
	err := Interruptible(t.Context(), func() error { close(started); <-never; return nil })
	if c, ok := errors.AsType[*codedError](err); !ok || c.code != interrupted.code {
		t.Errorf("%v", err)
	}
	if err := Interruptible(t.Context(), func() error { return nil }); err != nil {
		t.Error(err)
	}
	defer func() {
		if v := recover(); v != "deliberate" {
			t.Errorf("recovered %v", v)
		}
	}()
	_ = Interruptible(t.Context(), func() error { panic("deliberate") })
	t.Error("it went on after a panic")
}

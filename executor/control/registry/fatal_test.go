package registry

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
)

// What etcd would end the program for ends the goroutine that has it, and the first of it
// is kept with its cause.
func TestFatalErrorsOfEtcdEndAGoroutineOnly(t *testing.T) {
	f := newFatal()
	log := zap.NewNop().WithOptions(zap.WithFatalHook(f), zap.WithPanicHook(f)).Named("a part").With(zap.Int("more", 1))
	ended := make(chan struct{})
	for _, do := range []func(){
		func() {
			log.Panic("failed to create WAL", zap.String("path", "/x"),
				zap.Error(&fs.PathError{Op: "write", Path: "/x", Err: syscall.ENOSPC}))
		},
		func() { log.Fatal("too few files") },
		func() { panic("a bug") },
	} {
		go func() {
			defer close(ended)
			defer f.recovered()
			do()
			t.Error("it goes on")
		}()
		<-ended
		ended = make(chan struct{})
	}
	<-f.happened
	if want := "failed to create WAL: write /x: no space left on device"; f.err.Error() != want ||
		!errors.Is(f.err, syscall.ENOSPC) {
		t.Errorf("%q, want %q", f.err, want)
	}
}

// Handles on a server that has failed are lost at once, and nobody waits to leave it.
func TestServerThatFailsIsLostAtOnce(t *testing.T) {
	dir, err := os.MkdirTemp("", "et")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	server, err := StartServer(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer server.etcd.Close() // which Close leaves to the end of the process
	s, err := Open(t.Context(), server.Config(), "s")
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Failure(); err != nil {
		t.Fatal(err)
	}
	server.fatal.happen(syscall.ENOSPC)
	select {
	case <-s.Lost():
	case <-time.After(10 * time.Second):
		t.Fatal("the handle is not lost")
	}
	if _, err := s.putNew(context.Background(), s.prefix+"k", nil); !errors.Is(err, errFailed) {
		t.Errorf("writing to it: %v", err)
	}
	if err := server.Failure(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the failure is %v", err)
	}
	server.Close()
	if err := s.Close(false); err != nil {
		t.Error(err)
	}
}

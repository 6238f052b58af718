package reporters

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
)

// Fault is an error of a formatter itself: a bug in weir, not a failed write.
type Fault struct {
	cause error
	place string // file and line of a panic, "" for an error
}

func (f *Fault) Error() string {
	const report = " (this is a bug in weir; please report it)"
	return sentence(" ", "internal error", f.place) + ": " + f.cause.Error() + report
}

func (f *Fault) Unwrap() error { return f.cause }

// Guarded runs a formatter. Its panics and errors become a Fault; errors of the writer are returned
// unchanged.
func Guarded(w io.Writer, format func(io.Writer) error) (err error) {
	sink := &sink{to: w}
	defer func() {
		if v := recover(); v != nil {
			cause, ok := v.(error)
			if !ok {
				cause = fmt.Errorf("%v", v)
			}
			err = &Fault{cause, panicked()}
		}
	}()
	err = format(sink)
	if _, recorded := errors.AsType[*Fault](err); err != nil && sink.err == nil && !recorded {
		return &Fault{err, ""}
	}
	return err
}

// sink keeps the first error of a writer.
type sink struct {
	to  io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	n, err := s.to.Write(p)
	if s.err == nil {
		s.err = err
	}
	return n, err
}

// panicked is the position in weir of the panic being recovered.
func panicked() string {
	calls := make([]uintptr, 64)
	frames := runtime.CallersFrames(calls[:runtime.Callers(0, calls)])
	for below := false; ; {
		f, more := frames.Next()
		if below && strings.HasPrefix(f.Function, "github.com/weir-bench/weir/") {
			return fmt.Sprintf("at %s:%d", filepath.Base(f.File), f.Line)
		}
		below = below || f.Function == "runtime.gopanic"
		if !more {
			return ""
		}
	}
}

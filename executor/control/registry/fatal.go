package registry

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// fatal is a hook for errors on which etcd's logger would exit or panic. It ends only the goroutine with
// the error.
type fatal struct {
	once     sync.Once
	happened chan struct{}
	err      error // once it has happened: the first
}

func newFatal() *fatal { return &fatal{happened: make(chan struct{})} }

func (f *fatal) happen(err error) {
	f.once.Do(func() {
		f.err = err
		close(f.happened)
	})
}

// OnWrite is called by the logger in the goroutine with the error.
func (f *fatal) OnWrite(entry *zapcore.CheckedEntry, fields []zap.Field) {
	err := errors.New(entry.Message)
	for _, field := range fields {
		if cause, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			err = fmt.Errorf("%s: %w", entry.Message, cause)
		}
	}
	f.happen(err)
	runtime.Goexit()
}

// recovered turns a panic of its goroutine into an error.
func (f *fatal) recovered() {
	if v := recover(); v != nil {
		f.happen(fmt.Errorf("%v", v))
	}
}

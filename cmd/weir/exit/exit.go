// Package exit maps errors and signals to the exit code of weir.
package exit

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/gate"
)

// codedError is an error with the exit code of the program.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// With attaches an exit code to an error; nil stays nil.
func With(code int, err error) error {
	if err == nil {
		return nil
	}
	return &codedError{code, err}
}

// Execution gives an error the exit code of a failure to execute, unless it has one.
func Execution(err error) error {
	if _, coded := errors.AsType[*codedError](err); coded {
		return err
	}
	return With(gate.ExitExecution, err)
}

// Usage is an error with the exit code of wrong usage, or that of execution if a resource of the host is exhausted.
func Usage(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if exhausted(err) {
		return With(gate.ExitExecution, err)
	}
	return With(gate.ExitUsage, err)
}

// status is the exit code of an outcome that was reported already.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Code is nil for success and otherwise a status.
func Code(code int) error {
	if code == gate.ExitPassed {
		return nil
	}
	return status(code)
}

// Explain prints an error, unless it was reported already, and returns its exit code.
// Errors without a code come from the parser of the command line.
func Explain(stderr io.Writer, cmd *cobra.Command, err error) int {
	if err == nil {
		return gate.ExitPassed
	}
	if s, ok := errors.AsType[status](err); ok {
		return int(s)
	}
	screen.Say(stderr, "weir: "+rewordArguments(Reword(err.Error()), cmd.CommandPath(), cmd.Use))
	if coded, ok := errors.AsType[*codedError](err); ok {
		return coded.code
	}
	if exhausted(err) { // as by `weir completion`, which cobra writes
		return gate.ExitExecution
	}
	fmt.Fprintf(stderr, "See %q.\n", cmd.CommandPath()+" --help")
	return gate.ExitUsage
}

// exhausted reports whether an error means that a resource of the host is exhausted.
func exhausted(err error) bool {
	for _, e := range []error{unix.ENOSPC, unix.EDQUOT, unix.EMFILE, unix.ENFILE, unix.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

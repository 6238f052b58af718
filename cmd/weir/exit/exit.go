// Package exit says with which exit code weir ends: errors carry it, and signals have one.
package exit

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"weir/gate"
)

// codedError is an error that knows the exit code it ends the program with.
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

// Usage is an error in how weir was called, unless the host is to blame for it.
func Usage(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if exhausted(err) {
		return With(gate.ExitExecution, err)
	}
	return With(gate.ExitUsage, err)
}

// status ends the program with a code after everything has been said.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Code is nil for success and otherwise a status.
func Code(code int) error {
	if code == gate.ExitPassed {
		return nil
	}
	return status(code)
}

// Explain prints an error, if it has not been told yet, and gives its exit code.
// Errors without a code come from the parsing of the command line.
func Explain(stderr io.Writer, cmd *cobra.Command, err error) int {
	if err == nil {
		return gate.ExitPassed
	}
	if s, ok := errors.AsType[status](err); ok {
		return int(s)
	}
	fmt.Fprintf(stderr, "weir: %s\n", arguments(Words(err.Error()), cmd.CommandPath(), cmd.Use))
	if coded, ok := errors.AsType[*codedError](err); ok {
		return coded.code
	}
	fmt.Fprintf(stderr, "See %q.\n", cmd.CommandPath()+" --help")
	return gate.ExitUsage
}

// exhausted says whether an error is of something that the host has no more of, which is
// no mistake of whoever calls weir.
func exhausted(err error) bool {
	for _, e := range []error{unix.ENOSPC, unix.EDQUOT, unix.EMFILE, unix.ENFILE, unix.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"weir/gate"
)

// codedError is an error that knows the exit code it ends the program with.
type codedError struct {
	code int
	err  error
}

func (e *codedError) Error() string { return e.err.Error() }
func (e *codedError) Unwrap() error { return e.err }

// withCode attaches an exit code to an error; nil stays nil.
func withCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &codedError{code, err}
}

// asExecution gives an error the exit code of a failure to execute, unless it has one.
func asExecution(err error) error {
	if _, coded := errors.AsType[*codedError](err); coded {
		return err
	}
	return withCode(gate.ExitExecution, err)
}

// wrongUsage is an error in how weir was called, unless the host is to blame for it.
func wrongUsage(format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if exhausted(err) {
		return withCode(gate.ExitExecution, err)
	}
	return withCode(gate.ExitUsage, err)
}

// status ends the program with a code after everything has been said.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// exit is nil for success and otherwise a status.
func exit(code int) error {
	if code == gate.ExitPassed {
		return nil
	}
	return status(code)
}

// explain prints an error, if it has not been told yet, and gives its exit code.
// Errors without a code come from the parsing of the command line.
func explain(stderr io.Writer, cmd *cobra.Command, err error) int {
	if err == nil {
		return gate.ExitPassed
	}
	if s, ok := errors.AsType[status](err); ok {
		return int(s)
	}
	fmt.Fprintf(stderr, "weir: %v\n", err)
	if coded, ok := errors.AsType[*codedError](err); ok {
		return coded.code
	}
	fmt.Fprintf(stderr, "See %q.\n", cmd.CommandPath()+" --help")
	return gate.ExitUsage
}

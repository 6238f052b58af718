package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"weir/cmd/weir/exit"
	"weir/gate"
	"weir/reporters"
	"weir/results"
)

// Write writes the reports; those without a path go to dir. One that cannot be
// written keeps no other from being written.
func Write(rs []Report, doc *results.Document, dir string, stdout io.Writer) error {
	var failed []error
	for _, r := range rs {
		r.Reporter = r.Beside(os.DirFS(dir))
		var err error
		switch r.Path {
		case reporters.Stdout:
			err = Print(r.Stream(stdout), "writing "+r.Name+" report to stdout",
				func(w io.Writer) error { return r.Write(w, doc) })
		case "":
			err = r.WriteFile(filepath.Join(dir, r.DefaultFile), doc)
		default:
			err = r.WriteFile(r.Path, doc)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// Print writes to a stream what a formatter makes: all of it, or nothing where the formatter fails.
func Print(w io.Writer, doing string, format func(io.Writer) error) error {
	var b bytes.Buffer
	err := reporters.Guarded(&b, format)
	if err == nil {
		_, err = w.Write(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// Code is the exit code of a verdict beside the errors of its reports. What could not be written is
// an execution error. A fault of a formatter is told, and changes no verdict.
func Code(verdict int, err error) int {
	if err == nil || faults(err) {
		return verdict
	}
	return gate.Worst(verdict, gate.ExitExecution)
}

// faults says whether all errors that were joined are faults of formatters.
func faults(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !faults(err) })
	}
	_, ok := errors.AsType[*reporters.Fault](err)
	return ok
}

// End ends a command with a verdict and the errors of its reports.
func End(verdict int, err error) error {
	if err == nil {
		return exit.Code(verdict)
	}
	return exit.With(Code(verdict, err), err)
}

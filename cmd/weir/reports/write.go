package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// Write writes all reports and joins their errors. Reports without a path go to dir.
func Write(rs []Report, doc *results.Document, dir string, stdout io.Writer) error {
	var failed []error
	for _, r := range rs {
		r.Reporter = r.Beside(os.DirFS(dir))
		var err error
		switch path := r.PathOf(doc.Scenario.Name); path {
		case reporters.Stdout:
			err = Print(r.Stream(stdout), "writing "+r.Name+" report to stdout",
				func(w io.Writer) error { return r.Write(w, doc) })
		case "":
			err = r.WriteFile(filepath.Join(dir, r.DefaultFile), doc)
		default:
			err = r.WriteFile(path, doc)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

// Print writes the output of a formatter to a stream, or nothing if the formatter fails.
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

// Code is the exit code for a verdict and the errors of its reports. A report that cannot be written is
// an execution error. A fault of a formatter changes no verdict.
func Code(verdict int, err error) int {
	if err == nil || onlyFaults(err) {
		return verdict
	}
	return gate.Worst(verdict, gate.ExitExecution)
}

// onlyFaults reports whether all joined errors are faults of formatters.
func onlyFaults(err error) bool {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !onlyFaults(err) })
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

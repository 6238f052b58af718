package reports

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// brokenReports are a report that panics and one that returns an error, between two that work.
func brokenReports(dir string) []Report {
	reporter := func(name string, write func(io.Writer, *results.Document) error) reporters.Reporter {
		return reporters.Reporter{Name: name, DefaultFile: name + ".txt", Write: write}
	}
	good := func(w io.Writer, _ *results.Document) error { return printed(w, "good") }
	return []Report{
		{reporter("first", good), ""},
		{reporter("panics", func(w io.Writer, _ *results.Document) error {
			_ = printed(w, "half of it")
			var none *results.Document
			return errors.New(none.Session.ID)
		}), filepath.Join(dir, "own.txt")},
		{reporter("fails", func(io.Writer, *results.Document) error { return errors.New("no such metric") }), ""},
		{reporter("streams", func(w io.Writer, _ *results.Document) error {
			_ = printed(w, "half of it")
			panic("deliberate")
		}), reporters.Stdout},
		{reporter("last", good), ""},
	}
}

func printed(w io.Writer, text string) error {
	_, err := io.WriteString(w, text)
	return err
}

// A report that panics or fails is reported with its name and its path, writes no half of it, and stops
// no other.
func TestABrokenReportStopsNoOther(t *testing.T) {
	dir := t.TempDir()
	var stdout bytes.Buffer
	err := Write(brokenReports(dir), &results.Document{}, dir, &stdout)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		"writing panics report " + filepath.Join(dir, "own.txt") + ": internal error at reports_test.go:",
		"nil pointer", "writing fails report " + filepath.Join(dir, "fails.txt") + ": internal error: no such metric",
		"writing streams report to stdout: internal error at reports_test.go:", "deliberate", "please report it",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	for _, name := range []string{"first.txt", "last.txt"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "good" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 || stdout.Len() > 0 {
		t.Errorf("%d files, %v; on stdout %q", len(files), err, &stdout)
	}
	for verdict, want := range map[int]int{
		gate.ExitPassed: gate.ExitPassed, gate.ExitFailed: gate.ExitFailed,
		gate.ExitInconclusive: gate.ExitInconclusive, gate.ExitInterrupted: gate.ExitInterrupted,
	} {
		if got := Code(verdict, err); got != want {
			t.Errorf("verdict %d ends with %d, want %d", verdict, got, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, unix.ENOSPC }

// A report that cannot be written is an execution error, beside a fault of another, too.
func TestAReportThatCannotBeWrittenIsAnExecutionError(t *testing.T) {
	good := Report{reporters.Reporter{Name: "good", Write: func(w io.Writer, _ *results.Document) error {
		if err := printed(w, "good"); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
		return nil
	}}, reporters.Stdout}
	missing := good
	missing.Path = filepath.Join(t.TempDir(), "missing", "x")
	for _, rs := range [][]Report{{good}, {missing}, append(brokenReports(t.TempDir()), good)} {
		err := Write(rs, &results.Document{}, t.TempDir(), full{})
		for _, verdict := range []int{gate.ExitPassed, gate.ExitFailed, gate.ExitInconclusive} {
			if got := Code(verdict, err); got != gate.ExitExecution {
				t.Errorf("verdict %d ends with %d: %v", verdict, got, err)
			}
		}
	}
	if got := Code(gate.ExitFailed, nil); got != gate.ExitFailed {
		t.Errorf("without an error %d", got)
	}
}

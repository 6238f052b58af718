package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"weir/reporters"
	"weir/results"
)

// reportFlags are the --report flags.
type reportFlags struct{ texts []string }

func (r *reportFlags) add(f *pflag.FlagSet) {
	f.StringArrayVar(&r.texts, "report", nil, "write a report, as `FORMAT[=PATH]` (repeatable): "+strings.Join(reporters.Formats(), ", ")+"; PATH - is stdout")
}

// report is one report that was asked for.
type report struct {
	reporters.Reporter
	path string // "": its default file in the session directory; reporters.Stdout: that
}

func (r *reportFlags) parse() ([]report, error) {
	var out []report
	for _, text := range r.texts {
		format, path, given := strings.Cut(text, "=")
		rep, ok := reporters.Lookup(format)
		if !ok {
			return nil, wrongUsage("--report %s: unknown format %q%s", text, format, didYouMean(format, reporters.Formats()))
		}
		if given && path == "" {
			return nil, wrongUsage("--report %s: the path is empty", text)
		}
		if !given && rep.DefaultFile == reporters.Stdout {
			path = reporters.Stdout
		}
		out = append(out, report{rep, path})
	}
	return out, nil
}

// toStdout says whether any of the reports takes stdout for itself.
func toStdout(rs []report) bool {
	for _, r := range rs {
		if r.path == reporters.Stdout {
			return true
		}
	}
	return false
}

// write writes the reports; those without a path go to dir. One that cannot be
// written keeps no other from being written.
func write(rs []report, doc *results.Document, dir string, stdout io.Writer) error {
	var failed []error
	for _, r := range rs {
		var err error
		switch r.path {
		case reporters.Stdout:
			if err = r.Write(stdout, doc); err != nil {
				err = fmt.Errorf("writing %s report: %w", r.Name, err)
			}
		case "":
			err = r.WriteFile(filepath.Join(dir, r.DefaultFile), doc)
		default:
			err = r.WriteFile(r.path, doc)
		}
		failed = append(failed, err)
	}
	return errors.Join(failed...)
}

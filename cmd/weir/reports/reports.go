// Package reports has the flag --report and writes what it asks for.
package reports

import (
	"strings"

	"github.com/spf13/pflag"

	"weir/cmd/weir/exit"
	"weir/reporters"
	"weir/suggest"
)

// Flags are the --report flags.
type Flags struct{ texts []string }

func (r *Flags) Add(f *pflag.FlagSet) {
	f.StringArrayVar(&r.texts, "report", nil, "write a report, as `FORMAT[=PATH]` (repeatable): "+
		strings.Join(reporters.Formats(), ", ")+"; PATH - is stdout")
}

// Report is one report that was asked for.
type Report struct {
	reporters.Reporter
	Path string // "": its default file in the session directory; reporters.Stdout: that
}

func (r *Flags) Parse() ([]Report, error) {
	var out []Report
	for _, text := range r.texts {
		format, path, given := strings.Cut(text, "=")
		rep, ok := reporters.Lookup(format)
		if !ok {
			return nil, exit.Usage("--report %s: unknown format %q%s; the formats are %s", text, format,
				suggest.DidYouMean(format, reporters.Formats()), strings.Join(reporters.Formats(), ", "))
		}
		if given && path == "" {
			return nil, exit.Usage("--report %s: the path is empty", text)
		}
		if !given && rep.DefaultFile == reporters.Stdout {
			path = reporters.Stdout
		}
		out = append(out, Report{rep, path})
	}
	return out, nil
}

// ToStdout says whether any of the reports takes stdout for itself.
func ToStdout(rs []Report) bool {
	for _, r := range rs {
		if r.Path == reporters.Stdout {
			return true
		}
	}
	return false
}

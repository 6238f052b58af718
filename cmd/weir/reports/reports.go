// Package reports has the flag --report and writes the reports.
package reports

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/reporters"
)

// Flags are the flags --report, --columns and --wide.
type Flags struct {
	texts []string
	Columns
}

func (r *Flags) Add(f *pflag.FlagSet) {
	f.StringArrayVar(&r.texts, "report", nil,
		"write a report, as `FORMAT[=PATH]` (-: stdout; repeatable); weir docs reports lists the formats")
	r.Columns.add(f)
}

// Report is one report of --report.
type Report struct {
	reporters.Reporter
	Path string // "": the default file in the session directory; or reporters.Stdout
}

// ofScenario in a path stands for the name of the scenario.
const ofScenario = "{scenario}"

// PathOf is the path of the report of a scenario.
func (r Report) PathOf(scenario string) string {
	return strings.ReplaceAll(r.Path, ofScenario, scenario)
}

// CheckPaths is an error if two scenarios would write the same file.
func CheckPaths(rs []Report, scenarios []string) error {
	for _, r := range rs {
		written := map[string]bool{}
		for _, name := range scenarios {
			path := r.PathOf(name)
			if path != "" && path != reporters.Stdout && written[path] {
				return exit.Usage("--report %s=%s: %d scenarios would write the same file; write %s in the path, or omit it, so that each session directory gets its own",
					r.Name, r.Path, len(scenarios), ofScenario)
			}
			written[path] = true
		}
	}
	return nil
}

func (r *Flags) Parse() ([]Report, error) {
	var out []Report
	var onStdout string   // the last report to stdout
	var named, mixed bool // one names stdout; two share it, one of which names it
	if err := r.Columns.parsed(); err != nil {
		return nil, err
	}
	for _, text := range r.texts {
		format, path, given := strings.Cut(text, "=")
		rep, ok := reporters.Lookup(format)
		if !ok {
			return nil, exit.Usage("--report %s: unknown format %q%s", text, format, known(format))
		}
		if given && path == "" {
			return nil, exit.Usage("--report %s: the path is empty", text)
		}
		if !given && rep.DefaultFile == reporters.Stdout {
			path = reporters.Stdout
		}
		if path == reporters.Stdout {
			mixed = mixed || onStdout != "" && (given || named)
			named, onStdout = named || given, text
		}
		out = append(out, Report{rep.Drawn(r.Columns.look()), path})
	}
	if mixed {
		return nil, exit.Usage("--report %s: another report goes to stdout too; give one of them a file", onStdout)
	}
	return out, nil
}

// known suggests the format whose files have the extension, as markdown for md, or the nearest name, or lists all.
func known(format string) string {
	all := reporters.Formats()
	if slices.Contains([]string{"text", "terminal", "txt", "stdout"}, format) {
		return `; did you mean "table"?`
	}
	for _, is := range []func(file string) bool{
		func(file string) bool { return file == "report."+format }, // before others of the extension
		func(file string) bool { return filepath.Ext(file) == "."+format },
	} {
		for _, name := range all {
			if r, _ := reporters.Lookup(name); is(r.DefaultFile) {
				return fmt.Sprintf("; did you mean %q?", name)
			}
		}
	}
	return cmp.Or(suggest.DidYouMean(format, all), "; the formats are "+strings.Join(all, ", "))
}

// ToStdout reports whether any of the reports goes to stdout.
func ToStdout(rs []Report) bool {
	return slices.ContainsFunc(rs, func(r Report) bool { return r.Path == reporters.Stdout })
}

// Package reporters writes a judged result document for people and for other programs, one format per
// file. Reports contain only what the document contains, findings come first, no planned case is missing,
// and colours always come with words. Reporters never judge: verdicts, estimates and messages are the
// gate's.
package reporters

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/results"
)

// Reporter writes a document in one format.
type Reporter struct {
	Name        string
	DefaultFile string // file name in a session directory, or Stdout
	Write       func(io.Writer, *results.Document) error
}

// Beside returns the reporter for a document with the files of its session, of which some formats show
// more: HTML draws raw samples.
func (r Reporter) Beside(files fs.FS) Reporter {
	if r.Name == "html" {
		r.Write = func(w io.Writer, doc *results.Document) error {
			return HTMLBeside(&printable.Writer{To: w, Commands: true}, doc, files, "")
		}
	}
	return r
}

// Drawn returns the reporter with the table drawn by a look; other formats have none.
func (r Reporter) Drawn(look Look) Reporter {
	if r.Name == "table" {
		r.Write = func(w io.Writer, doc *results.Document) error { return Table(w, doc, look) }
	}
	return r
}

// Stdout stands for the standard output where a path is expected.
const Stdout = "-"

var registry = []Reporter{
	{"aiperf", "aiperf.json", AIPerf},
	{"comment", "comment.md", Comment},
	{"csv", "results.csv", CSV},
	{"csv-launches", "launches.csv", CSVLaunches},
	{"ct-perftest", "ct-perftest.txt", CTPerftest},
	{"github", Stdout, GitHub},
	{"gitlab", "gl-code-quality.json", GitLab},
	{"html", "report.html", HTML},
	{"json", "results.json", JSON},
	{"junit", "junit.xml", JUnit},
	{"llm-d", "llm-d.json", LLMD},
	{"markdown", "report.md", Markdown},
	{"nixl-ep", "nixl-ep.txt", NIXLEP},
	{"nixlbench", "nixlbench.txt", NIXLBench},
	{"openmetrics", "metrics.prom", OpenMetrics},
	{"table", "report.txt", func(w io.Writer, doc *results.Document) error { return Table(w, doc, Look{}) }},
}

// Lookup finds the reporter of a format.
func Lookup(format string) (Reporter, bool) {
	for _, r := range registry {
		if r.Name == format {
			if r.Name != "json" { // JSON escapes them itself and stays exact
				write := r.Write
				own := r.Name == "github" || r.Name == "html" // commands of weir; styles and scripts
				r.Write = func(w io.Writer, doc *results.Document) error {
					return write(&printable.Writer{To: w, Commands: own}, doc)
				}
			}
			return r, true
		}
	}
	return Reporter{}, false
}

// Formats lists the names of all formats, in alphabetical order.
func Formats() []string {
	var names []string
	for _, r := range registry {
		names = append(names, r.Name)
	}
	return names
}

// Stream wraps stdout for a report, because it may be the log of a CI job.
func (r Reporter) Stream(stdout io.Writer) io.Writer {
	if r.Name == "json" {
		return &printable.JSON{To: stdout}
	}
	return stdout
}

// WriteFile writes a report atomically, so that a CI job never collects a part of one.
func (r Reporter) WriteFile(path string, doc *results.Document) error {
	if r.Name == "ct-perftest" && strings.HasSuffix(path, ".json") { // as its program writes it
		r.Write = CTPerftestJSON
	}
	err := results.WriteWith(path, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		if err := Guarded(b, func(w io.Writer) error { return r.Write(w, doc) }); err != nil {
			return err
		}
		return b.Flush()
	})
	if err != nil {
		return fmt.Errorf("writing %s report %s: %w", r.Name, path, err)
	}
	return nil
}

// plural counts things in words: "1 case", "3 cases".
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// sentence joins the non-empty parts.
func sentence(separator string, parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, separator)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/workload"
)

var comparisonFormats = []string{"text", "json", "markdown", "html"}

// compareFlags are the flags of weir compare.
type compareFlags struct {
	style    screen.Style
	runs     string
	axis     string
	margin   string
	multiple string
	format   string
	output   string
	reports  []string
	noise    stored.Noise
	options  gate.CompareOptions
}

func newCompare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BASE NEW… | compare RESULTS --runs BASE,NEW | compare RESULTS --axis NAME[=BASE,NEW…]",
		Short: "compare sessions, or two parts of one session",
		Long: `compare prints, for each case and metric that two result documents share, by how
much it changed, with an interval, whether the change is real, and whether it is a
regression: worse by more than the margin, with confidence. BASE and NEW are
results.json files or session directories; cases are matched by their keys. The
differences between the two environments and settings come first. By default, the
metrics of the assertions of both sides are compared. It takes 2 to 8 documents: each
further one is compared with BASE, in a column of its own.

Launches of two sessions are two samples, and sessions vary too. The variation
between sessions is taken from earlier sessions (--noise-from, also if NEW was run
with it), from references, or else from the changes of at least 8 cases of a metric.
A common change of these cases is a real change or a difference between sessions; it is
reported, and each case is judged by its difference from the common change. With fewer
cases and no earlier sessions, weir assumes that sessions vary by 5 %, as for assertions
on a baseline; a common change that is worse by far more is a regression, too. Two runs
of one session, or the cases at values of an axis, with interleaved launches are
compared launch by launch, which removes drift and finds far smaller changes: prefer it
where both can run together, best with order: {by: interleave, axis: NAME} in the sweep.

Exit code 1: a regression. Exit code 3: a metric is inconclusive, or all launches of a
case were discarded on a side. Exit code 6: a side has launches that cannot be judged.`,
		Example: `  weir compare weir-out/before weir-out/after
  weir compare weir-out/nixl-0.9 weir-out/nixl-1.0 weir-out/nixl-1.1 --format html -o builds.html
  weir compare old.json new.json --metric latency.p99 --margin 5%
  weir compare weir-out/20261121-101500-ab-3f9a --runs old_kernel,new_kernel
  weir compare weir-out/20261121-101500-ab-3f9a --axis fabric=tcp,ucx
  weir compare weir-out/20261121-101500-ab-3f9a --axis variant
  weir compare old.json new.json --format markdown >> "$GITHUB_STEP_SUMMARY"`,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := len(args); n > reporters.MostCompared {
				return exit.Usage("compare takes 2 to %d documents, and %d were given",
					reporters.MostCompared, n)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Interruptible(cmd.Context(), func() error { return f.run(cmd, args) })
		},
	}
	flags := cmd.Flags()
	f.style.Add(flags)
	flags.StringVar(&f.runs, "runs", "", "compare two runs of one document: `BASE,NEW`")
	flags.StringVar(&f.axis, "axis", "",
		"compare cases along an axis: `NAME=BASE,NEW`, also several NEW; NAME alone: all values with the baseline variant or the first value")
	flags.StringArrayVar(&f.options.Metrics, "metric", nil, "compare metric `NAME` (repeatable)")
	flags.BoolVar(&f.options.All, "all", false, "compare every metric that has a better direction")
	flags.StringVar(&f.margin, "margin", quantity.Percent(reports.Margin).String(),
		"change for the worse that is no regression, in `PERCENT` of the base")
	flags.StringVar(&f.multiple, "multiple", "",
		"correct for multiple comparisons: `holm` (the error rate then holds for all comparisons together)")
	f.noise.Add(flags)
	flags.StringVar(&f.format, "format", "text", "`FORMAT`: text, json, markdown or html")
	flags.StringArrayVar(&f.reports, "report", nil,
		"also write the comparison to a file, as `FORMAT[=PATH]` (repeatable; default path: comparison.SUFFIX)")
	flags.StringVarP(&f.output, "output", "o", "", "write to `FILE` instead of stdout")
	return cmd
}

func (f *compareFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.parse(args); err != nil {
		return err
	}
	all, err := f.compare(args, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	err = f.write(cmd.OutOrStdout(), all)
	for _, r := range f.reports {
		err = errors.Join(err, writeComparison(r, all))
	}
	return reports.End(worstOf(all), err)
}

// worstOf is the exit code of comparisons.
func worstOf(all []*results.Comparison) int {
	var codes []int
	for _, c := range all {
		codes = append(codes, c.ExitCode)
	}
	return gate.Worst(codes...)
}

// parse checks what needs no document.
func (f *compareFlags) parse(args []string) error {
	if !slices.Contains(comparisonFormats, f.format) {
		return exit.Usage("--format %q: use %s", f.format, strings.Join(comparisonFormats, ", "))
	}
	for _, r := range f.reports {
		format, path, given := strings.Cut(r, "=")
		if !slices.Contains(comparisonFormats, format) {
			return exit.Usage("--report %s: unknown format %q%s", r, format,
				suggest.DidYouMean(format, comparisonFormats))
		}
		if given && path == "" {
			return exit.Usage("--report %s: the path is empty", r)
		}
	}
	margin, err := quantity.ReadPercent(f.margin)
	if err == nil && (margin < 0 || margin >= 1) {
		err = fmt.Errorf("%s is not from 0%% to below 100%%", f.margin)
	}
	if err != nil {
		return exit.Usage("--margin: %w", err)
	}
	f.options.Margin = float64(margin)
	if f.multiple != "" && f.multiple != "holm" {
		return exit.Usage("--multiple %q: use holm", f.multiple)
	}
	f.options.Holm = f.multiple == "holm"
	switch {
	case f.runs != "" && f.axis != "":
		return exit.Usage("--runs and --axis cannot be used together")
	case f.runs == "" && f.axis == "" && len(args) < 2:
		return exit.Usage("give two or more result documents, or one with --runs BASE,NEW or --axis NAME")
	case f.noise.Given() && len(args) < 2:
		return exit.Usage("--noise-from says how sessions differ: it needs two documents")
	case (f.runs != "" || f.axis != "") && len(args) != 1:
		return exit.Usage("--runs and --axis compare parts of one document: give one document")
	}
	return nil
}

// compare returns the comparisons of each further document with the first, or of the parts of one.
func (f *compareFlags) compare(args []string, notes io.Writer) ([]*results.Comparison, error) {
	var docs []*results.Document
	for _, path := range args {
		doc, err := stored.Read(path, notes)
		if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	if err := knownMetrics(f.options.Metrics, docs); err != nil {
		return nil, err
	}
	var err error
	if f.options.Noise, err = f.noise.Read(notes); err != nil {
		return nil, err
	}
	var all []*results.Comparison
	for i := min(1, len(docs)-1); i < len(docs); i++ {
		c, err := f.compareRead(docs[0], docs[i])
		if errors.Is(err, gate.ErrNothingCompared) {
			return nil, exit.With(gate.ExitEmpty, err)
		}
		if err != nil {
			return nil, exit.With(gate.ExitUsage, err)
		}
		c.Base.File, c.New.File = args[0], args[i]
		all = append(all, c)
	}
	return all, nil
}

// compareRead compares two documents, or parts of base.
func (f *compareFlags) compareRead(base, now *results.Document) (*results.Comparison, error) {
	two := func(flag, values string) (first, second string, err error) {
		first, second, found := strings.Cut(values, ",")
		if !found || first == second {
			err = fmt.Errorf("%s: name two different ones, as BASE,NEW", flag)
		}
		return first, second, err
	}
	switch {
	case f.runs != "":
		first, second, err := two("--runs "+f.runs, f.runs)
		if err != nil {
			return nil, err
		}
		return gate.CompareRuns(base, first, second, f.options)
	case f.axis != "":
		axis, values, given := strings.Cut(f.axis, "=")
		if given {
			named := strings.Split(values, ",")
			if len(named) < 2 || len(slices.Compact(slices.Sorted(slices.Values(named)))) < len(named) {
				return nil, fmt.Errorf("--axis %s: name two or more that differ, as BASE,NEW", f.axis)
			}
			return gate.CompareAxis(base, axis, named[0], named[1:], f.options)
		}
		return gate.CompareAxis(base, axis, "", nil, f.options)
	}
	return gate.Compare(base, now, f.options)
}

func (f *compareFlags) write(w io.Writer, all []*results.Comparison) error {
	if f.style.Quiet && f.output == "" {
		return nil
	}
	color, columns := f.style.Color(w), screen.Width(w)
	if f.output != "" {
		return comparisonFile(f.output, f.format, all)
	}
	switch f.format {
	case "text", "markdown":
		w = screen.Text(w)
	case "json":
		w = &printable.JSON{To: w}
	}
	return reports.Print(w, "writing the comparison", comparisonIn(f.format, all, color, columns))
}

// comparisonIn writes a comparison in one of comparisonFormats.
func comparisonIn(format string, all []*results.Comparison, color bool, columns int) func(io.Writer) error {
	return func(w io.Writer) error {
		switch format {
		case "json":
			text, err := encoded(all)
			if err == nil {
				_, err = w.Write(text)
			}
			return err
		case "markdown":
			if len(all) > 1 {
				return reporters.ComparisonsMarkdown(w, all)
			}
			return reporters.ComparisonMarkdown(w, all[0])
		case "html":
			return reporters.ComparisonHTML(w, "", all...)
		}
		if len(all) > 1 {
			return reporters.ComparisonsText(w, all, color, columns)
		}
		return reporters.ComparisonText(w, all[0], color, columns)
	}
}

// encoded is a comparison as JSON, or several in one object.
func encoded(all []*results.Comparison) ([]byte, error) {
	if len(all) == 1 {
		return all[0].Encode()
	}
	several := results.Comparisons{Schema: results.ComparisonsSchema, Comparisons: all, ExitCode: worstOf(all)}
	return several.Encode()
}

// comparisonFile writes a comparison to a file, atomically.
func comparisonFile(path, format string, all []*results.Comparison) error {
	err := results.WriteWith(path, func(w io.Writer) error {
		return reporters.Guarded(w, comparisonIn(format, all, false, 0))
	})
	if err != nil {
		return fmt.Errorf("writing the %s comparison %s: %w", format, path, err)
	}
	return nil
}

// comparisonSuffix are the suffixes of files of a format.
var comparisonSuffix = map[string]string{"text": ".txt", "json": ".json", "markdown": ".md", "html": ".html"}

// writeComparison writes one report of --report, which parse has checked.
func writeComparison(report string, all []*results.Comparison) error {
	format, path, given := strings.Cut(report, "=")
	if !given {
		path = "comparison" + comparisonSuffix[format]
	}
	return comparisonFile(path, format, all)
}

// knownMetrics refuses names of --metric that neither a workload nor a document has.
func knownMetrics(wanted []string, docs []*results.Document) error {
	names := metricNames()
	for _, doc := range docs {
		for _, t := range doc.Metrics {
			for _, m := range t.Definitions {
				names = append(names, m.Name)
			}
		}
	}
	for _, m := range wanted {
		if workload.OfCase(m) {
			return exit.Usage("--metric %s: it has one value per case and none per launch, so it cannot be compared; use an assertion",
				m)
		}
		if !slices.Contains(names, m) {
			return exit.Usage("--metric %s: no workload has it%s", m, suggest.DidYouMean(m, names))
		}
	}
	return nil
}

// metricNames are the names of the metrics of all workloads, each once.
func metricNames() []string {
	var names []string
	for _, k := range workload.Kinds() {
		for _, m := range k.Metrics {
			if !slices.Contains(names, m.Name) {
				names = append(names, m.Name)
			}
		}
	}
	return names
}

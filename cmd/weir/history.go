package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/internal/suggest"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// historyFlags are the flags of weir history's commands.
type historyFlags struct {
	dir         string
	format      string
	formats     []string // of the command
	scenario    string
	environment string
	significant float64
	magnitude   string
}

func newHistory() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "history",
		Short: "keep the results of sessions, and find where a metric changed",
		Long: `history keeps result documents in a directory and finds level changes in their
metrics. Documents are never changed; you can delete them, or copy others there by
hand. A change is reported, but fails no gate.`,
		Example: `  weir history add weir-out/20261121-101500-quickstart-3f9a
  weir history list
  weir history trend 'bandwidth[block_size=64MiB]' bandwidth`,
	}
	cmd.AddCommand(newHistoryAdd(), newHistoryList(), newHistoryTrend())
	return cmd
}

// historyCode is the exit code of an error: its cause is the directory, an edited document, or wrong usage.
func historyCode(err error) int {
	if _, ok := errors.AsType[*history.StoreError](err); ok {
		return gate.ExitExecution
	}
	if errors.Is(err, results.ErrChanged) {
		return gate.ExitStale
	}
	return gate.ExitUsage
}

func (f *historyFlags) addDir(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.dir, "dir", history.DefaultDir, "history `DIR`")
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "history" { // as weir run has it
			name = "dir"
		}
		return pflag.NormalizedName(name)
	})
}

func (f *historyFlags) addFormat(cmd *cobra.Command, formats ...string) {
	f.formats = formats
	cmd.Flags().StringVar(&f.format, "format", formats[0], "`FORMAT`: "+strings.Join(formats, ", "))
	cmd.Flags().StringVar(&f.scenario, "scenario", "", "only sessions of scenario `NAME`")
}

func (f *historyFlags) check() error {
	if !slices.Contains(f.formats, f.format) {
		return exit.Usage("--format %s: there are %s", f.format, strings.Join(f.formats, ", "))
	}
	return nil
}

func newHistoryAdd() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "add RESULTS…",
		Short: "copy result documents into the history",
		Long: `add copies result documents (results.json or session directories) into the history.
A document that the history has already is skipped; a different document of the same
session is refused. Several processes may add at the same time.`,
		Example: `  weir history add weir-out/*
  weir history add results.json --dir /srv/weir-history`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var failed []error
			codes := []int{gate.ExitPassed}
			for _, path := range args {
				e, added, err := history.Store{Dir: f.dir}.Add(path)
				if e.SealedEarlier {
					stored.NoteSealedEarlier(cmd.ErrOrStderr(), path)
				}
				switch {
				case err != nil:
					failed, codes = append(failed, err), append(codes, historyCode(err))
				case added:
					fmt.Fprintf(cmd.ErrOrStderr(), "added session %s of %s\n", e.Session, e.Scenario)
				default:
					fmt.Fprintf(cmd.ErrOrStderr(), "session %s is there already\n", e.Session)
				}
			}
			return exit.With(gate.Worst(codes...), errors.Join(failed...))
		},
	}
	f.addDir(cmd)
	return cmd
}

func newHistoryList() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "list the sessions of the history",
		Example: "  weir history list --scenario quickstart",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			all, problems, err := history.Store{Dir: f.dir}.List()
			if err != nil {
				return exit.With(historyCode(err), err)
			}
			entries := []history.Entry{}
			for _, e := range all {
				if f.scenario == "" || e.Scenario == f.scenario {
					entries = append(entries, e)
				}
			}
			if f.format == "json" {
				return exit.With(gate.ExitExecution, screen.JSON(cmd.OutOrStdout(), map[string]any{
					"schema": "weir.sessions/v1", "sessions": entries, "left_out": problems,
				}))
			}
			for _, p := range problems {
				fmt.Fprintf(cmd.ErrOrStderr(), "left out %q: %q\n", p.File, p.Reason)
			}
			return reports.End(gate.ExitPassed, reports.Print(screen.Text(cmd.OutOrStdout()), "printing the sessions",
				func(w io.Writer) error { return reporters.Sessions(w, entries) }))
		},
	}
	f.addDir(cmd)
	f.addFormat(cmd, "text", "json")
	return cmd
}

func newHistoryTrend() *cobra.Command {
	var f historyFlags
	cmd := &cobra.Command{
		Use:   "trend CASE METRIC",
		Short: "plot a metric of a case over the sessions, and find where it changed",
		Long: `trend plots the metric of each session and finds changes of level, and drifts: a
little with each session. After each session it tests by a likelihood ratio on the log
scale, which allows for autocorrelation and weighs sessions by their launches. For
each change it prints the sessions before and after, the differences between them
(versions, options, variables, transports, and the hardware of the nodes), and the
session that raised the alarm. Later sessions do not withdraw an alarm: a regression
that was fixed stays in the list. The same documents give the same changes on every
machine. Changes smaller than --magnitude are not reported. "weir docs statistics" has
the detection and false alarm rates.

--format html writes a self-contained page for a browser.`,
		Example: `  weir history trend 'bandwidth[block_size=64MiB]' bandwidth
  weir history trend 'bandwidth[block_size=64MiB]' bandwidth --format html > trend.html
  weir history trend latency latency.p99 --magnitude 10% --format json`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if !(f.significant > 0 && f.significant < 1) {
				return exit.Usage("--significance %v: it must be between 0 and 1", f.significant)
			}
			magnitude, err := quantity.ReadPercent(f.magnitude)
			if err == nil && (magnitude < 0 || magnitude >= 1) {
				err = fmt.Errorf("%s is not from 0%% to below 100%%", f.magnitude)
			}
			if err != nil {
				return exit.Usage("--magnitude: %w", err)
			}
			wanted := append(slices.Clone(args), "", "") // names of none: the error lists those that there are
			t, err := history.Store{Dir: f.dir}.Trend(history.Query{
				Case: wanted[0], Metric: wanted[1], Scenario: f.scenario, Environment: f.environment,
				Significance: f.significant, Magnitude: float64(magnitude),
			})
			if missing, ok := errors.AsType[*history.MissingError](err); ok {
				return exit.Usage("%w%s", err, missingHint(missing))
			}
			if err != nil {
				return exit.With(historyCode(err), err)
			}
			w := cmd.OutOrStdout()
			switch f.format {
			case "json":
				return exit.With(gate.ExitExecution, screen.JSON(w, t))
			case "html":
				err = reports.Print(w, "writing the trend",
					func(to io.Writer) error { return reporters.TrendHTML(to, t, "", reporters.Addresses{}) })
			default:
				err = reports.Print(screen.Text(w), "writing the trend",
					func(to io.Writer) error { return reporters.Trend(to, t, screen.Width(w)) })
			}
			return reports.End(gate.ExitPassed, err)
		},
	}
	f.addDir(cmd)
	f.addFormat(cmd, "text", "json", "html")
	cmd.Flags().StringVar(&f.environment, "environment", "",
		"only sessions with this environment `FINGERPRINT`, or a prefix of it")
	cmd.Flags().Float64Var(&f.significant, "significance", 0.05,
		"probability `P` of a false alarm in a history of 30 sessions without a change")
	cmd.Flags().StringVar(&f.magnitude, "magnitude", "3%",
		"smallest level change to report, in `PERCENT` (0%: all)")
	return cmd
}

// missingHint names what the sessions have instead: the likely one, or some of them.
func missingHint(m *history.MissingError) string {
	name, there := m.Wanted()
	if near := suggest.DidYouMean(name, there); near != "" || len(there) == 0 {
		return near
	}
	for _, other := range there {
		if strings.HasPrefix(other, name+"[") || strings.HasSuffix(other, "."+name) {
			return fmt.Sprintf("; did you mean %q?", other)
		}
	}
	return "; there are " + suggest.Few(name, there, "")
}

package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/dsl/format"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/bounded"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/reporters"
	"github.com/weir-bench/weir/results"
)

// calibrateFlags are the flags of weir calibrate.
type calibrateFlags struct {
	cap     string
	output  string
	quiet   bool
	options gate.CalibrateOptions
}

func newCalibrate() *cobra.Command {
	var f calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate RESULTS…",
		Short: "propose targets and tolerances from the noise of several sessions",
		Long: `calibrate measures how much launches, sessions and nodes vary, and proposes for
each metric of each case a target and a tolerance that a new session of the same
setup meets. It prints a file of references. Comments in the file have the
tolerances and the source of each number; a key has the environment: in another
environment, assertions on these values are errors. A summary goes to stderr.

RESULTS are results.json files or session directories of one scenario on machines
of the same type, preferably of different days. Where a tolerance would have to
exceed --cap, nothing is proposed: fix the noise first.

Exit code 3: some metrics were refused for their noise. Exit code 6: a session has
launches that cannot be judged. All other proposals are written in both cases.`,
		Example: `  weir calibrate weir-out/*-nightly-* -o reference.yaml
  weir calibrate mon.json tue.json wed.json --metric bandwidth --cap 10%`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Interruptible(cmd.Context(), func() error { return f.run(cmd, args) })
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.options.Metrics, "metric", nil,
		"calibrate metric `NAME` (repeatable; default: the metrics of assertions)")
	flags.BoolVar(&f.options.All, "all", false, "calibrate every metric that has a better direction")
	flags.StringVar(&f.cap, "cap", "20%", "largest tolerance to propose, in `PERCENT`")
	flags.IntVar(&f.options.Launches, "launches", 0,
		"propose tolerances for sessions of `N` launches (default: the last look of the assertions)")
	flags.BoolVar(&f.options.SingleSession, "single-session", false,
		"accept a single session, which cannot show how much sessions vary")
	flags.StringVarP(&f.output, "output", "o", "", "write to `FILE` instead of stdout")
	flags.BoolVarP(&f.quiet, "quiet", "q", false, "print only references and errors")
	return cmd
}

func (f *calibrateFlags) run(cmd *cobra.Command, args []string) error {
	if err := f.parse(); err != nil {
		return err
	}
	var docs []*results.Document
	files := map[string]results.Calibrated{}
	for _, path := range args {
		doc, err := stored.Read(path, cmd.ErrOrStderr())
		if err != nil {
			return err
		}
		digest, err := digestOf(path)
		if err != nil {
			return exit.With(gate.ExitUsage, err)
		}
		files[doc.Session.ID] = results.Calibrated{File: path, Digest: digest}
		docs = append(docs, doc)
	}
	if err := knownMetrics(f.options.Metrics, docs); err != nil {
		return err
	}
	c, err := gate.Calibrate(docs, f.options)
	switch {
	case errors.Is(err, gate.ErrNothingCompared):
		return exit.With(gate.ExitEmpty, err)
	case err != nil:
		return exit.With(gate.ExitUsage, err)
	}
	for i, s := range c.Sessions {
		c.Sessions[i].File, c.Sessions[i].Digest = files[s.Session].File, files[s.Session].Digest
	}
	var failed error
	if !f.quiet {
		failed = reports.Print(cmd.ErrOrStderr(), "printing the summary",
			func(w io.Writer) error { return reporters.CalibrationText(w, c) })
	}
	if err := f.write(cmd, c); err != nil {
		failed = errors.Join(failed, fmt.Errorf("writing the references: %w", err))
	}
	return reports.End(c.ExitCode, failed)
}

func (f *calibrateFlags) parse() error {
	limit, err := quantity.ReadPercent(f.cap)
	if err == nil && limit <= 0 {
		err = fmt.Errorf("%s leaves no tolerance", f.cap)
	}
	if err != nil {
		return exit.Usage("--cap: %w", err)
	}
	f.options.Cap = float64(limit)
	if f.options.Launches < 0 {
		return exit.Usage("--launches %d: a session has at least one", f.options.Launches)
	}
	if f.output != "" && format.SyntaxOf(f.output) != format.YAML {
		return exit.Usage("-o %s: references are written in YAML, and the name ends with .yaml or .yml", f.output)
	}
	return nil
}

// write writes the references. It writes no file where nothing is proposed.
func (f *calibrateFlags) write(cmd *cobra.Command, c *results.Calibration) error {
	var b bytes.Buffer
	if err := reporters.Guarded(&b, func(w io.Writer) error { return reporters.References(w, c) }); err != nil {
		return err
	}
	if !c.Proposes() {
		return nil
	}
	if f.output != "" {
		return results.WriteFile(f.output, b.Bytes())
	}
	_, err := cmd.OutOrStdout().Write(b.Bytes())
	return err
}

// digestOf is the SHA-256 digest of the file of a result document.
func digestOf(path string) (string, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "results.json")
	}
	b, err := bounded.ReadFile(path, bounded.Result)
	if err != nil {
		return "", fmt.Errorf("reading results: %w", err)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(b)), nil
}

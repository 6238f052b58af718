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

	"weir/cmd/weir/exit"
	"weir/cmd/weir/reports"
	"weir/cmd/weir/stored"
	"weir/dsl/format"
	"weir/gate"
	"weir/quantity"
	"weir/reporters"
	"weir/results"
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
		Long: `calibrate finds how much launches of a session, sessions and nodes vary, and
proposes for each metric of each case a target and a tolerance that a new session
of the same path holds. It prints a file of references; the tolerances, and where
all numbers come from, stand in its comments, and the environment as a key: in
another one, what is asserted of the values is an error. What was found is told on
stderr.

RESULTS are results.json files or session directories of one scenario on machines
that are alike, best of different days. Where the noise asks for more than the cap,
nothing is proposed: fix the noise first.

It ends with 3 if something was refused for its noise, with 6 if a session has
launches that cannot be judged; what could be proposed is written all the same.`,
		Example: `  weir calibrate weir-out/*-nightly-* -o reference.yaml
  weir calibrate mon.json tue.json wed.json --metric bandwidth --cap 10%`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return exit.Interruptible(cmd.Context(), func() error { return f.run(cmd, args) })
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.options.Metrics, "metric", nil,
		"calibrate metric `NAME` (repeatable) instead of those that assertions are about")
	flags.BoolVar(&f.options.All, "all", false, "calibrate every metric that has a better direction")
	flags.StringVar(&f.cap, "cap", "20%", "the largest tolerance that is proposed, in `PERCENT`")
	flags.IntVar(&f.options.Launches, "launches", 0,
		"tolerances for sessions of `N` launches, instead of the last look of the assertions")
	flags.BoolVar(&f.options.SingleSession, "single-session", false,
		"propose from one session, though it cannot tell how sessions differ")
	flags.StringVarP(&f.output, "output", "o", "", "write to `FILE` instead of stdout")
	flags.BoolVar(&f.quiet, "quiet", false, "print nothing but the references and errors")
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
		failed = reports.Print(cmd.ErrOrStderr(), "printing what was found",
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

// write writes the references, of which there may be none: a file without a table
// is none.
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

// digestOf is the digest of a result document as it lies there.
func digestOf(path string) (string, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "results.json")
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading results: %w", err)
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256(b)), nil
}

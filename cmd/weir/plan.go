package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"

	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/cmd/weir/launcher"
	"github.com/weir-bench/weir/cmd/weir/run"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/dsl"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/printable"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// planFormats are the values of --output.
var planFormats = map[string]func(*planner.Plan, io.Writer) error{
	"text":    (*planner.Plan).Text,
	"dot":     (*planner.Plan).Dot,
	"mermaid": (*planner.Plan).Mermaid,
	"json": func(p *planner.Plan, w io.Writer) error {
		b, err := p.Encode()
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	},
}

// Limits of the text of a large plan: cases per run, and groups.
const (
	shownCases  = 1000
	shownGroups = 200
)

// planFlags are the flags of weir plan.
type planFlags struct {
	variables input.Variables
	selection input.Selection
	output    string
	save      string
	diff      string
	after     string
	history   string
	noiseFrom stored.Noise
	noise     []results.CaseNoise
	fleet     launcher.Flags
}

func newPlan() *cobra.Command {
	var f planFlags
	cmd := &cobra.Command{
		Use:   "plan FILE|DIR…",
		Short: "show the cases, launches and assertions of a scenario",
		Long: `plan shows all cases of a scenario in the order in which they run, their assertions
with numeric bounds, the cases that share launches, and the number of launches. If
references or earlier sessions give the noise of metrics, it shows the probability
that assertions pass or fail at several true values. A saved plan runs exactly as it
was shown, and does not depend on earlier sessions. The file - is YAML on stdin.

With the launcher flags of weir run, or a site file, it also shows the settings of the
launcher and the flag or file of each. A saved plan does not contain them.`,
		Example: `  weir plan examples/quickstart.yaml
  weir plan examples/quickstart.yaml --save plan.json && weir run plan.json
  weir plan examples/quickstart.yaml --diff plan.json
  weir plan examples/quickstart.yaml --after expand
  weir plan examples/quickstart.yaml -o dot | dot -Tsvg > plan.svg`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.variables.Add(cmd.Flags())
	f.selection.Add(cmd.Flags())
	f.fleet.AddLaunchers(cmd.Flags())
	f.fleet.HideSettings()
	cmd.Flags().StringVarP(&f.output, "output", "o", "text", "`FORMAT`: text, json, dot or mermaid")
	cmd.Flags().StringVar(&f.save, "save", "", "also save the plan as JSON to `FILE`, for weir run FILE")
	cmd.Flags().StringVar(&f.diff, "diff", "",
		"show the changes since `OLD`, a saved plan or a session directory")
	cmd.Flags().StringVar(&f.after, "after", "",
		"show the plan after planning `STEP`: "+strings.Join(planner.Steps(), ", "))
	cmd.Flags().StringVar(&f.history, "history", "weir-out",
		"estimate the duration from the session directories in `DIR`")
	f.noiseFrom.Add(cmd.Flags())
	return cmd
}

func (f *planFlags) run(cmd *cobra.Command, args []string) error {
	if planFormats[f.output] == nil {
		return exit.Usage("--output %q: use text, json, dot or mermaid", f.output)
	}
	if f.after != "" && f.save != "" {
		return exit.Usage("--save cannot be used with --after: an unfinished plan cannot be run")
	}
	options, err := f.variables.Options()
	if err != nil {
		return err
	}
	at, err := f.variables.Site.Read()
	if err != nil {
		return err
	}
	if err := f.fleet.Choose(at); err != nil {
		return err
	}
	if err := f.fleet.Check(); err != nil {
		return err
	}
	if at != nil {
		f.fleet.PrintSite(cmd.ErrOrStderr(), at)
	}
	files, err := input.Files(args)
	if err != nil {
		return err
	}
	if len(files) > 1 && (f.save != "" || f.diff != "" || f.output != "text") {
		return exit.Usage("%d scenarios are given: --save, --diff and -o dot, json or mermaid take one", len(files))
	}
	if f.noise, err = f.noiseFrom.Read(cmd.ErrOrStderr()); err != nil {
		return err
	}
	if f.save != "" {
		if err := run.CanReplace(f.save); err != nil {
			return exit.Usage("--save %s: %v", f.save, err)
		}
	}
	if len(files) == 1 {
		return f.show(cmd, files[0], options)
	}
	return f.showAll(cmd, files, options)
}

// showAll shows the plans of several files, and names files without a selected case. It is an error if no file has one.
func (f *planFlags) showAll(cmd *cobra.Command, files []string, options dsl.Options) error {
	code, shown := gate.ExitEmpty, 0
	for _, file := range files {
		if shown > 0 {
			fmt.Fprintln(cmd.OutOrStdout())
		}
		err := f.show(cmd, file, options)
		if errors.Is(err, planner.ErrNothing) {
			fmt.Fprintf(cmd.ErrOrStderr(), "weir: left out: %s: %v\n", file, err)
			continue
		}
		if shown++; shown == 1 {
			code = gate.ExitPassed
		}
		if err != nil {
			code = gate.Worst(code, exit.Explain(cmd.ErrOrStderr(), cmd, err))
		}
	}
	return exit.Code(code)
}

// show plans one file and shows the plan.
func (f *planFlags) show(cmd *cobra.Command, file string, options dsl.Options) error {
	write := planFormats[f.output]
	p, err := f.plan(cmd, file, options)
	if err != nil {
		return err
	}
	if f.diff != "" {
		return f.compare(cmd, p)
	}
	if len(f.noise) > 0 {
		p.Expect(noiseByCase(f.noise)) // not part of the saved plan
	}
	if f.output == "text" || cmd.Flags().Changed("history") {
		p.Estimate(stored.Durations(f.history)) // not part of the saved plan
	}
	switch f.output {
	case "text":
	case "json":
		return exit.With(gate.ExitExecution, write(p, &printable.JSON{To: cmd.OutOrStdout()}))
	default:
		return exit.With(gate.ExitExecution, write(p, screen.Text(cmd.OutOrStdout())))
	}
	out := screen.Folded(cmd.OutOrStdout())
	err = errors.Join(write(p, out), writePower(out, p, f.noise), writeDoubts(out, p, f.noise),
		f.fleet.Text(out), out.Flush())
	return exit.With(gate.ExitExecution, err)
}

// plan makes the plan that is shown. A large plan is an excerpt if only its text is shown.
func (f *planFlags) plan(cmd *cobra.Command, file string, options dsl.Options) (*planner.Plan, error) {
	if input.IsPlan(file) {
		if f.after != "" {
			return nil, exit.Usage("--after needs a scenario: %s is planned already", file)
		}
		p, err := input.ReadPlan(file, options.Vars)
		if err != nil {
			return nil, err
		}
		return f.finish(p)
	}
	s, sources, diags, err := input.Load(file, options)
	if err != nil {
		return nil, err
	}
	var p *planner.Plan
	var t *planner.Table
	if !diags.HasErrors() {
		var more hcl.Diagnostics
		if f.after != "" {
			if p, more, err = planner.After(s, f.after); err != nil {
				return nil, exit.Usage("--after: %w", err)
			}
		} else {
			t, more = input.Tabulate(s)
		}
		diags = append(diags, more...)
	}
	if err := input.Show(cmd, diags, sources); err != nil {
		return nil, err
	}
	switch {
	case t == nil:
		return p, nil
	case t.Len() > shownCases && f.output == "text" && f.diff == "" && !f.selection.Given() &&
		len(f.noise) == 0:
		return t.Excerpt(shownCases, shownGroups), f.keep(t)
	}
	return f.finish(t.Plan())
}

// garbage is the amount of short-lived garbage, in bytes, that writing a plan may allocate between collections.
const garbage = 256 << 20

// gcPercent is the GOGC value for a collection after about that many allocated bytes, from 100 to 400.
func gcPercent(bytes uint64) int {
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(heap)
	return int(min(400, max(100, 100*bytes/max(1, heap[0].Value.Uint64()))))
}

// keep saves a plan if --save is given.
func (f *planFlags) keep(p interface{ Write(io.Writer) error }) error {
	if f.save == "" {
		return nil
	}
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent(garbage)))
	if err := results.WriteWith(f.save, func(w io.Writer) error {
		b := bufio.NewWriterSize(w, 1<<20)
		return errors.Join(p.Write(b), b.Flush())
	}); err != nil {
		return exit.With(gate.ExitExecution, fmt.Errorf("saving the plan: %w", err))
	}
	return nil
}

// finish applies the selection and saves the plan.
func (f *planFlags) finish(p *planner.Plan) (*planner.Plan, error) {
	err := f.selection.CheckTags(p)
	if err == nil {
		err = f.selection.Apply(p)
	}
	if err != nil {
		return nil, err
	}
	return p, f.keep(p)
}

// compare shows what changed since another plan.
func (f *planFlags) compare(cmd *cobra.Command, p *planner.Plan) error {
	path := f.diff
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		path = filepath.Join(path, "plan.json")
	}
	old, err := input.ReadPlan(path, nil)
	if err != nil {
		return err
	}
	changes, same := planner.Diff(old, p)
	return exit.With(gate.ExitExecution, planner.WriteDiff(screen.Text(cmd.OutOrStdout()), changes, same))
}

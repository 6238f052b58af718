// Package run is the verb run: it plans, measures, judges and reports.
package run

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"weir/cmd/weir/access"
	"weir/cmd/weir/exit"
	"weir/cmd/weir/input"
	"weir/cmd/weir/launcher"
	"weir/cmd/weir/reports"
	"weir/cmd/weir/screen"
	"weir/cmd/weir/stored"
	"weir/executor/cluster"
	"weir/executor/confine"
	"weir/executor/environ"
	"weir/executor/trust"
	"weir/gate"
	"weir/history"
	"weir/planner"
	"weir/quantity"
	"weir/results"
)

// flags are the flags of weir run.
type flags struct {
	variables  input.Variables
	selection  input.Selection
	style      screen.Style
	reports    reports.Flags
	out        string
	cluster    access.Etcd
	fleet      launcher.Flags
	etcd       cluster.Config
	shell      map[string]string // library variables that every node gets
	access     *trust.EtcdAccess // the same for agents that are launched
	failFast   bool
	timeout    string
	events     string
	allowStale bool
	resume     string
	disturbed  string // what becomes of launches that did not have their processors; "": see disturbedPolicy
	open       Inconclusive
	history    string // directory that earlier sessions are looked up in; "": none
	baseline   string
	noiseFrom  stored.Noise
	noise      []results.CaseNoise
	// baselineMissing is what becomes of what a baseline lacks; "": as the scenario says.
	baselineMissing string
	previous        string
	earlier         *results.Document // of --previous
	version         results.Version   // of this program
	site            *launcher.Site    // nil: there is none

	set    *pflag.FlagSet
	inputs []string // the file of each plan
}

func New(version results.Version) *cobra.Command {
	f := flags{version: version}
	cmd := &cobra.Command{
		Use:   "run FILE|DIR|plan.json|catalog:NAME…",
		Short: "run scenarios: plan, measure, judge, report",
		Long: `run plans each scenario, starts its rank processes, measures, judges and reports.
The session directory gets results.json, report.md, junit.xml, the plan, the raw
samples and the logs of all ranks; the table goes to stdout, everything else that
is for a person to stderr. Several scenarios run one after the other, and the
worst result decides the exit code; "weir docs exit-codes" lists them.`,
		Example: `  weir run examples/quickstart.yaml
  weir run examples/quickstart.yaml --only 'bandwidth[*fabric=shm]' --launches 1
  weir run examples/variables.yaml --var least='2 GB/s' --report junit=junit.xml --report html
  weir run --resume weir-out/20261121-101500-quickstart-3f9a
  weir run catalog:hosts --hosts 'gpu[01-02]'
  weir run catalog:nixlbench-libfabric --launcher slurm --slurm-flag=--partition=gpu`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.resume != "" { // the session directory has the plan
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.witnessed(cmd, args) },
	}
	f.set = cmd.Flags()
	f.variables.Add(cmd.Flags())
	f.selection.Add(cmd.Flags())
	f.reports.Add(cmd.Flags())
	f.style.Add(cmd.Flags())
	cmd.Flags().StringVar(&f.out, "out", "",
		"session `DIR` (default weir-out/<session>); of several scenarios each gets a folder in it")
	f.cluster.Add(cmd.Flags(), "`URLS` of an etcd cluster; without it weir brings its own")
	f.fleet.Add(cmd.Flags())
	cmd.Flags().BoolVar(&f.failFast, "fail-fast", false, "end the session at the first error or failed gate")
	cmd.Flags().StringVar(&f.timeout, "timeout", "",
		"total `TIME` for everything, as 90s or 10m; then the partial report is written and the exit code is 124")
	cmd.Flags().StringVar(&f.resume, "resume", "",
		"go on with the session in `DIR` that was cut off or stopped: what it has measured is taken over")
	cmd.Flags().StringVar(&f.disturbed, "disturbed", "",
		"`keep|repeat|fail` launches that did not have their processors, where that can change what is asserted: kept "+
			"ones count, repeated ones do not and are made again, failed ones are errors "+
			"(default $"+DisturbedVariable+", else repeat)")
	cmd.Flags().StringVar(&f.baseline, "baseline", "",
		"result document `FILE|DIR` that baseline.METRIC is taken from, instead of the scenario's")
	f.open.Add(cmd.Flags())
	cmd.Flags().StringVar(&f.history, "history", "",
		"history `DIR` that --inconclusive-streak looks for earlier sessions in, besides those beside this one, and that this session "+
			"is added to (default: it looks into "+history.DefaultDir+", and adds nothing)")
	f.noiseFrom.Add(cmd.Flags())
	cmd.Flags().StringVar(&f.baselineMissing, "baseline-missing", "",
		"what becomes of assertions whose baseline is not there: `error|skip` (the scenario's, else error)")
	cmd.Flags().StringVar(&f.previous, "previous", "", "result document `FILE|DIR` of the last time: reports say what has changed since; none: nothing (default the newest session beside this one that measured the same)")
	cmd.Flags().BoolVar(&f.allowStale, "allow-stale", false, "run a saved plan though its scenario has changed since")
	cmd.Flags().StringVar(&f.events, "events", "",
		"stream events as NDJSON to `FILE`, - is stdout; weir schema events says what each is")
	return cmd
}

// witnessed runs, and makes it an execution error if stdout or stderr could not
// take what was said.
func (f *flags) witnessed(cmd *cobra.Command, args []string) error {
	exit.SurvivePipes()
	stdout, stderr := &screen.Witness{Writer: cmd.OutOrStdout()}, &screen.Witness{Writer: cmd.ErrOrStderr()}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := f.run(cmd, args)
	if !stderr.Failed() && (!stdout.Failed() || stdout.Unread() && f.tableOnly()) {
		return err
	}
	return exit.Code(gate.Worst(gate.ExitExecution, exit.Explain(stderr, cmd, err)))
}

// tableOnly says whether stdout has nothing but the table, of which a person may have seen enough.
func (f *flags) tableOnly() bool {
	wanted, err := f.reports.Parse()
	return err == nil && !reports.ToStdout(wanted) && f.events != "-"
}

// etcdWait is how long an etcd may take to answer at the start: one that restarts, or has
// a new leader, is back within it.
const etcdWait = 15 * time.Second

func (f *flags) run(cmd *cobra.Command, args []string) error {
	wanted, err := f.reports.Parse()
	if err != nil {
		return err
	}
	timeout, err := f.limit()
	if err != nil {
		return err
	}
	if f.disturbed, err = f.disturbedPolicy(); err != nil {
		return err
	}
	if err := f.open.Check(f.set); err != nil {
		return err
	}
	if err := confine.NoDumps(); err != nil { // it holds keys
		return exit.With(gate.ExitExecution, err)
	}
	if f.etcd, err = f.cluster.Config(); err != nil {
		return err
	}
	if _, err := access.TakeVariable(access.TokenVariable); err != nil { // of an agent that this shell has started
		return exit.With(gate.ExitExecution, err)
	}
	if f.shell, err = environ.Carried(os.Environ()); err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	f.etcd.Wait = etcdWait
	f.etcd.Waiting = func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "weir: %s\n", text) }
	if f.access, err = f.cluster.Access(f.etcd); err != nil {
		return err
	}
	if f.site, err = f.variables.Site.Read(); err != nil {
		return err
	}
	if err := f.fleet.Choose(f.site); err != nil {
		return err
	}
	if f.site != nil && !f.style.Quiet {
		f.fleet.Tell(cmd.ErrOrStderr(), f.site)
	}
	plans, err := f.chosen(cmd, args)
	if err != nil {
		return err
	}
	for _, r := range wanted {
		if len(plans) > 1 && r.Path != "" && r.Path != "-" {
			return exit.Usage("--report %s=%s: %d scenarios would write one file; leave the path out and each session directory gets its own",
				r.Name, r.Path, len(plans))
		}
	}
	if err := f.writable(wanted); err != nil {
		return err
	}
	if f.previous != "" && f.previous != noPrevious {
		if f.earlier, err = stored.Read(f.previous, cmd.ErrOrStderr()); err != nil {
			return fmt.Errorf("--previous: %w", err)
		}
	}
	if f.noise, err = f.noiseFrom.Read(cmd.ErrOrStderr()); err != nil {
		return err
	}
	baselines, err := f.baselines(plans, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	stream, err := f.openEvents(cmd)
	if err != nil {
		return err
	}
	defer stream.Close()
	ctx, kill, stop := exit.Abortable(cmd.Context(), timeout)
	defer stop()
	codes := []int{}
	for i, p := range plans {
		if p == nil { // nothing selected of it
			codes = append(codes, gate.ExitEmpty)
			continue
		}
		s := session{
			flags: f, input: f.inputs[i], plan: p, baseline: baselines[i], kill: kill, reports: wanted, stream: stream,
			stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(), several: len(plans) > 1,
		}
		code, err := s.run(ctx)
		if err != nil {
			code = gate.Worst(code, exit.Explain(cmd.ErrOrStderr(), cmd, err))
		}
		codes = append(codes, code)
		if ctx.Err() != nil {
			break // it was told to stop, and so are those after it
		}
		if f.failFast && code != gate.ExitPassed && code != gate.ExitEmpty {
			if left := len(plans) - i - 1; left > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "weir: --fail-fast: %s failed; scenarios not run: %d\n", p.Scenario.File,
					left)
			}
			break
		}
	}
	return exit.Code(gate.Worst(codes...))
}

// limit is the total timeout, 0 without one.
func (f *flags) limit() (time.Duration, error) {
	if f.timeout == "" {
		return 0, nil
	}
	d, err := quantity.ParseTime(f.timeout)
	if err == nil && d <= 0 {
		err = fmt.Errorf("%q leaves no time", f.timeout)
	}
	if err != nil {
		return 0, exit.Usage("--timeout: %w", err)
	}
	return d, nil
}

// plans reads everything before anything runs, so that a mistake in the last
// file does not show after the first has been measured for an hour. A plan of
// which nothing is selected is nil.
func (f *flags) plans(cmd *cobra.Command, args []string) ([]*planner.Plan, error) {
	options, err := f.variables.Options()
	if err != nil {
		return nil, err
	}
	plans, err := input.ReadAll(cmd, args, options)
	if err != nil {
		return nil, err
	}
	files, err := input.Files(args)
	if err != nil {
		return nil, err
	}
	f.inputs = files
	for i, p := range plans {
		if input.IsPlan(files[i]) && !f.allowStale {
			if err := input.Fresh(p, files[i], options, cmd.ErrOrStderr()); err != nil {
				return nil, err
			}
		}
		if err := f.selection.Apply(p); err != nil {
			code := exit.Explain(cmd.ErrOrStderr(), cmd, fmt.Errorf("%s: %w", p.Scenario.File, err))
			if code != gate.ExitEmpty {
				return nil, exit.Code(code)
			}
			plans[i] = nil
		}
	}
	return plans, nil
}

package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"weir/executor/cluster"
	"weir/executor/environ"
	"weir/executor/trust"
	"weir/gate"
	"weir/planner"
	"weir/quantity"
	"weir/results"
)

// runFlags are the flags of weir run.
type runFlags struct {
	variables  variableFlags
	selection  selectionFlags
	style      styleFlags
	reports    reportFlags
	out        string
	cluster    clusterFlags
	fleet      fleetFlags
	etcd       cluster.Config
	shell      map[string]string // library variables that every node gets
	access     *trust.EtcdAccess // the same for agents that are launched
	failFast   bool
	timeout    string
	events     string
	allowStale bool
	resume     string
	baseline   string
	previous   string
	earlier    *results.Document // of --previous
	site       *site             // nil: there is none

	set    *pflag.FlagSet
	inputs []string // the file of each plan
}

func newRun() *cobra.Command {
	var f runFlags
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
	f.variables.add(cmd.Flags())
	f.selection.add(cmd.Flags())
	f.reports.add(cmd.Flags())
	f.style.add(cmd.Flags())
	cmd.Flags().StringVar(&f.out, "out", "", "session `DIR` (default weir-out/<session>); of several scenarios each gets a folder in it")
	f.cluster.add(cmd.Flags(), "`URLS` of an etcd cluster; without it weir brings its own")
	f.fleet.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.failFast, "fail-fast", false, "end the session at the first error or failed gate")
	cmd.Flags().StringVar(&f.timeout, "timeout", "", "total `TIME` for everything, as 90s or 10m; then the partial report is written and the exit code is 124")
	cmd.Flags().StringVar(&f.resume, "resume", "", "go on with the session in `DIR` that was cut off or stopped: what it has measured is taken over")
	cmd.Flags().StringVar(&f.baseline, "baseline", "", "result document `FILE|DIR` that baseline.METRIC is taken from, instead of the scenario's")
	cmd.Flags().StringVar(&f.previous, "previous", "", "result document `FILE|DIR` of the last time: reports say what has changed since; none: nothing (default the newest session of the scenario beside this one)")
	cmd.Flags().BoolVar(&f.allowStale, "allow-stale", false, "run a saved plan though its scenario has changed since")
	cmd.Flags().StringVar(&f.events, "events", "", "stream events as NDJSON to `FILE`, - is stdout; weir schema events says what each is")
	return cmd
}

// witnessed runs, and makes it an execution error if stdout or stderr could not
// take what was said.
func (f *runFlags) witnessed(cmd *cobra.Command, args []string) error {
	survivePipes()
	stdout, stderr := &witness{Writer: cmd.OutOrStdout()}, &witness{Writer: cmd.ErrOrStderr()}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := f.run(cmd, args)
	if !stdout.failed() && !stderr.failed() {
		return err
	}
	return exit(gate.Worst(gate.ExitExecution, explain(stderr, cmd, err)))
}

// etcdWait is how long an etcd may take to answer at the start: one that restarts, or has
// a new leader, is back within it.
const etcdWait = 15 * time.Second

func (f *runFlags) run(cmd *cobra.Command, args []string) error {
	wanted, err := f.reports.parse()
	if err != nil {
		return err
	}
	timeout, err := f.limit()
	if err != nil {
		return err
	}
	if f.etcd, err = f.cluster.config(); err != nil {
		return err
	}
	if _, err := takeVariable(tokenVariable); err != nil { // of an agent that this shell has started
		return withCode(gate.ExitExecution, err)
	}
	if f.shell, err = environ.Carried(os.Environ()); err != nil {
		return withCode(gate.ExitUsage, err)
	}
	f.etcd.Wait = etcdWait
	f.etcd.Waiting = func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "weir: %s\n", text) }
	if f.access, err = f.cluster.access(f.etcd); err != nil {
		return err
	}
	if f.site, err = f.variables.site.read(); err != nil {
		return err
	}
	if err := f.fleet.choose(f.site); err != nil {
		return err
	}
	if f.site != nil && !f.style.quiet {
		f.fleet.tell(cmd.ErrOrStderr(), f.site)
	}
	plans, err := f.chosen(cmd, args)
	if err != nil {
		return err
	}
	for _, r := range wanted {
		if len(plans) > 1 && r.path != "" && r.path != "-" {
			return wrongUsage("--report %s=%s: %d scenarios would write one file; leave the path out and each session directory gets its own", r.Name, r.path, len(plans))
		}
	}
	if err := f.writable(wanted); err != nil {
		return err
	}
	if f.previous != "" && f.previous != noPrevious {
		if f.earlier, err = readWhole(f.previous, cmd.ErrOrStderr()); err != nil {
			return fmt.Errorf("--previous: %w", err)
		}
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
	ctx, kill, stop := abortable(cmd.Context(), timeout)
	defer stop()
	codes := []int{}
	for i, p := range plans {
		if p == nil { // nothing selected of it
			codes = append(codes, gate.ExitEmpty)
			continue
		}
		s := session{flags: f, input: f.inputs[i], plan: p, baseline: baselines[i], kill: kill, reports: wanted, stream: stream, stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(), several: len(plans) > 1}
		code, err := s.run(ctx)
		if err != nil {
			code = gate.Worst(code, explain(cmd.ErrOrStderr(), cmd, err))
		}
		codes = append(codes, code)
		if ctx.Err() != nil {
			break // it was told to stop, and so are those after it
		}
		if f.failFast && code != gate.ExitPassed && code != gate.ExitEmpty {
			if left := len(plans) - i - 1; left > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "weir: --fail-fast: %s failed; scenarios not run: %d\n", p.Scenario.File, left)
			}
			break
		}
	}
	return exit(gate.Worst(codes...))
}

// limit is the total timeout, 0 without one.
func (f *runFlags) limit() (time.Duration, error) {
	if f.timeout == "" {
		return 0, nil
	}
	d, err := quantity.ParseTime(f.timeout)
	if err == nil && d <= 0 {
		err = fmt.Errorf("%q leaves no time", f.timeout)
	}
	if err != nil {
		return 0, wrongUsage("--timeout: %w", err)
	}
	return d, nil
}

// plans reads everything before anything runs, so that a mistake in the last
// file does not show after the first has been measured for an hour. A plan of
// which nothing is selected is nil.
func (f *runFlags) plans(cmd *cobra.Command, args []string) ([]*planner.Plan, error) {
	options, err := f.variables.options()
	if err != nil {
		return nil, err
	}
	plans, err := readAll(cmd, args, options)
	if err != nil {
		return nil, err
	}
	files, err := inputs(args)
	if err != nil {
		return nil, err
	}
	f.inputs = files
	for i, p := range plans {
		if isPlan(files[i]) && !f.allowStale {
			if err := fresh(p, files[i], options, cmd.ErrOrStderr()); err != nil {
				return nil, err
			}
		}
		if err := f.selection.apply(p); err != nil {
			code := explain(cmd.ErrOrStderr(), cmd, fmt.Errorf("%s: %w", p.Scenario.File, err))
			if code != gate.ExitEmpty {
				return nil, exit(code)
			}
			plans[i] = nil
		}
	}
	return plans, nil
}

// openEvents opens the stream of --events; without it, events go nowhere.
func (f *runFlags) openEvents(cmd *cobra.Command) (*eventStream, error) {
	switch f.events {
	case "":
		return &eventStream{}, nil
	case "-":
		return &eventStream{w: cmd.OutOrStdout()}, nil
	}
	file, err := os.Create(f.events)
	if err != nil {
		return nil, wrongUsage("--events: %w", err)
	}
	return &eventStream{w: file, close: file.Close}, nil
}

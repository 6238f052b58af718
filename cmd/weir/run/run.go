// Package run is the command weir run: it plans, measures, judges and reports.
package run

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weir-bench/weir/cmd/weir/access"
	"github.com/weir-bench/weir/cmd/weir/exit"
	"github.com/weir-bench/weir/cmd/weir/input"
	"github.com/weir-bench/weir/cmd/weir/launcher"
	"github.com/weir-bench/weir/cmd/weir/reports"
	"github.com/weir-bench/weir/cmd/weir/screen"
	"github.com/weir-bench/weir/cmd/weir/stored"
	"github.com/weir-bench/weir/executor/control/registry"
	"github.com/weir-bench/weir/executor/host/confine"
	"github.com/weir-bench/weir/executor/host/environ"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/history"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
)

// flags are the flags of weir run.
type flags struct {
	variables       input.Variables
	selection       input.Selection
	style           screen.Style
	reports         reports.Flags
	out             string
	cluster         access.Etcd
	fleet           launcher.Flags
	etcd            registry.Config
	shell           map[string]string // library variables for all nodes
	failFast        bool
	live            bool
	timeout         string
	events          string
	allowStale      bool
	resume          string
	disturbed       string // policy for launches without enough CPU time; "": see disturbedPolicy
	open            Inconclusive
	history         string // directory of earlier sessions; "": none
	baseline        string
	noiseFrom       stored.Noise
	noise           []results.CaseNoise
	baselineMissing string // policy for values that a baseline lacks; "": the scenario's
	previous        string
	push            string // URL of a push gateway; "": none
	pushTo          *url.URL
	notify          string // URL of a webhook; "": $WEIR_NOTIFY
	notifyTo        *url.URL
	earlier         *results.Document // of --previous
	version         results.Version   // of this program
	site            *launcher.Site    // nil: there is none

	set     *pflag.FlagSet
	inputs  []string // the file of each plan
	several bool     // scenarios are given, also if only one has a selected tag
}

// rare are the flags that are only in docs/hosts.md, so that the help fits on a screen.
var rare = []string{
	"advertise", "exclusive", "kube-capability", "kube-label", "kube-privileged", "kube-resource", "plan-timeout",
	"tls-ca", "tls-cert", "tls-key",
}

func New(version results.Version) *cobra.Command {
	f := flags{version: version}
	cmd := &cobra.Command{
		Use:   "run FILE|DIR|plan.json|catalog:NAME…",
		Short: "run scenarios: plan, measure, judge, report",
		Long: `run measures scenarios one after the other and judges them. The exit code is that of the worst result. FILE -
is YAML on stdin. "weir docs hosts" has rare flags (--advertise, --tls-…), "weir docs exit-codes" the codes.`,
		Example: `  weir run examples/quickstart.yaml --only 'bandwidth[fabric=shm,*]' --report html
  weir run catalog:hosts --hosts 'gpu[01-02]'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.resume != "" { // the plan is in the session directory
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.MinimumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.checkOutput(cmd, args) },
	}
	f.set = cmd.Flags()
	f.variables.Add(cmd.Flags())
	f.selection.Add(cmd.Flags())
	f.reports.Add(cmd.Flags())
	f.style.Add(cmd.Flags())
	cmd.Flags().StringVar(&f.out, "out", "",
		"session `DIR` (default: weir-out/<session>); with several scenarios, a folder in it for each")
	f.cluster.AddURLs(cmd.Flags(), "`URLS` of the etcd of registered agents and of programs with etcd: true (default: embedded, an etcd in weir run)")
	f.fleet.Add(cmd.Flags())
	cmd.Flags().BoolVar(&f.live, "live", false, "show the session in a browser while it runs: prints the address of the page")
	cmd.Flags().BoolVar(&f.failFast, "fail-fast", false, "end the session at the first error or failed gate")
	cmd.Flags().StringVar(&f.timeout, "timeout", "",
		"total time limit `TIME`, such as 90s or 10m; then a partial report is written and the exit code is 124")
	cmd.Flags().StringVar(&f.resume, "resume", "",
		"continue the interrupted session in `DIR`, and keep its measurements")
	cmd.Flags().StringVar(&f.disturbed, "disturbed", "",
		"`keep|repeat|fail` launches that got too little CPU time, if that can change a verdict (default: $"+
			DisturbedVariable+", else repeat)")
	cmd.Flags().StringVar(&f.baseline, "baseline", "",
		"result document `FILE|DIR` for baseline.METRIC, instead of the scenario's")
	f.open.Add(cmd.Flags())
	cmd.Flags().StringVar(&f.history, "history", "",
		"add this session to the history in `DIR`, and count --inconclusive-streak there too (default for counting: "+
			history.DefaultDir+")")
	f.noiseFrom.Add(cmd.Flags())
	cmd.Flags().StringVar(&f.baselineMissing, "baseline-missing", "",
		"`error|skip|record` if the baseline is missing (default: the scenario's, else error); record: skip, then keep this result as baseline")
	cmd.Flags().StringVar(&f.previous, "previous", "", "report the changes since result document `FILE|DIR`; none: no comparison (default: the newest similar session beside this one)")
	cmd.Flags().BoolVar(&f.allowStale, "allow-stale", false, "run a saved plan even if its scenario has changed")
	cmd.Flags().StringVar(&f.events, "events", "",
		"stream events as NDJSON to `FILE` (-: stdout), as described by weir schema events")
	cmd.Flags().StringVar(&f.push, "push", "",
		"send the metrics to `URL`: a Prometheus push gateway, or otlp+http://… of OpenTelemetry")
	cmd.Flags().StringVar(&f.notify, "notify", "",
		"post a message to the webhook `URL` if the session does not pass (default: $"+notifyVariable+")")
	for _, name := range rare {
		cmd.Flags().Lookup(name).Hidden = true
	}
	return cmd
}

// checkOutput runs the scenarios; failed writes to stdout or stderr are an execution error.
func (f *flags) checkOutput(cmd *cobra.Command, args []string) error {
	exit.SurvivePipes()
	stdout, stderr := &screen.ErrWriter{Writer: cmd.OutOrStdout()}, &screen.ErrWriter{Writer: cmd.ErrOrStderr()}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := f.run(cmd, args)
	if !stderr.Failed() && (!stdout.Failed() || stdout.BrokenPipe() && f.tableOnly()) {
		return err
	}
	return exit.Code(gate.Worst(gate.ExitExecution, exit.Explain(stderr, cmd, err)))
}

// tableOnly reports whether stdout has only the table, which a pager may close early.
func (f *flags) tableOnly() bool {
	wanted, err := f.reports.Parse()
	return err == nil && !reports.ToStdout(wanted) && f.events != "-"
}

// etcdWait is the timeout for the first answer of etcd, enough for a restart or a leader election.
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
	if f.pushTo, err = pushURL(f.push); err != nil {
		return err
	}
	if f.notifyTo, err = f.notifyURL(); err != nil {
		return err
	}
	if err := confine.NoDumps(); err != nil { // this process holds keys
		return exit.With(gate.ExitExecution, err)
	}
	if f.shell, err = environ.Carried(os.Environ()); err != nil {
		return exit.With(gate.ExitUsage, err)
	}
	if f.site, err = f.variables.Site.Read(); err != nil {
		return err
	}
	f.cluster.Take(f.site.Etcd())
	if f.etcd, err = f.cluster.Config(); err != nil {
		return err
	}
	f.etcd.Wait = etcdWait
	f.etcd.Waiting = func(text string) { fmt.Fprintf(cmd.ErrOrStderr(), "weir: %s\n", text) }
	if err := f.fleet.Choose(f.site); err != nil {
		return err
	}
	if err := f.fleet.Check(); err != nil {
		return err
	}
	if f.site != nil && !f.style.Quiet {
		f.fleet.PrintSite(cmd.ErrOrStderr(), f.site)
	}
	plans, err := f.chosen(cmd, args)
	if err != nil {
		return err
	}
	if err := f.checkPlans(plans); err != nil {
		return err
	}
	var scenarios []string
	for _, p := range plans {
		if p != nil {
			scenarios = append(scenarios, p.Scenario.Name)
		}
	}
	if err := reports.CheckPaths(wanted, scenarios); err != nil {
		return err
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
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; with --baseline-missing record this session runs without a baseline, and becomes it if it passes",
			err)
	}
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
	tables := f.tables(cmd.OutOrStdout(), cmd.ErrOrStderr(), wanted)
	told := len(plans) > 1 && !f.style.Quiet
	var all []outcome
	for i, p := range plans {
		if p == nil { // nothing selected of it
			all = append(all, outcome{name: f.inputs[i], file: f.inputs[i], code: gate.ExitEmpty})
			continue
		}
		if told {
			title(tables, i+1, len(plans), p.Scenario.Name, f.inputs[i])
		}
		s := session{
			flags: f, input: f.inputs[i], plan: p, baseline: baselines[i], kill: kill, reports: wanted, stream: stream,
			stdout: cmd.OutOrStdout(), stderr: cmd.ErrOrStderr(), several: f.several,
		}
		code, err := s.run(ctx)
		if err != nil {
			code = gate.Worst(code, exit.Explain(cmd.ErrOrStderr(), cmd, err))
		}
		all = append(all, outcome{p.Scenario.Name, f.inputs[i], s.status, s.wrote, code})
		if ctx.Err() != nil {
			break // by a signal or the timeout: no further scenarios
		}
		if f.failFast && code != gate.ExitPassed && code != gate.ExitEmpty {
			if left := len(plans) - i - 1; left > 0 {
				fmt.Fprintf(cmd.ErrOrStderr(), "weir: --fail-fast: %s failed; scenarios not run: %d\n", p.Scenario.File,
					left)
			}
			break
		}
	}
	if told {
		total(tables, all, len(plans))
	}
	return exit.Code(worst(all))
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

// plans plans all files before anything runs, so that an error in the last file is reported at once. A
// plan without selected cases is nil.
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
	f.inputs, f.several = files, len(files) > 1
	for i, p := range plans {
		if input.IsPlan(files[i]) && !f.allowStale {
			if err := input.Fresh(p, files[i], options, cmd.ErrOrStderr()); err != nil {
				return nil, err
			}
		}
	}
	return f.selected(cmd, plans)
}

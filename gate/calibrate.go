package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/weir-bench/weir/gate/wording"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/workload"
)

// CalibrateOptions select what is proposed.
type CalibrateOptions struct {
	Metrics       []string // names; none: those that assertions use
	All           bool     // every metric with a better direction
	Cap           float64  // largest proposed tolerance, as a share: 0.2
	Launches      int      // launches of a future session; 0: the last interim analysis of the assertions
	SingleSession bool     // accept a single session, which does not show how sessions differ
}

// Calibrate proposes a target and a tolerance for each metric of each case, from sessions of one scenario
// on similar machines. A new session of the same path passes with this tolerance: it covers the prediction
// interval of that session's mean plus the half-width of the gate's own interval. It returns an error for
// sessions that are not comparable, and ErrNothingCompared if there is nothing to propose.
func Calibrate(docs []*results.Document, o CalibrateOptions) (*results.Calibration, error) {
	if err := checkComparable(docs, o.SingleSession); err != nil {
		return nil, err
	}
	docs = slices.SortedStableFunc(slices.Values(undisturbed(docs)), func(a, b *results.Document) int {
		return cmp.Or(a.Session.Started.Compare(b.Session.Started), cmp.Compare(a.Session.ID, b.Session.ID))
	})
	metrics := workload.DefinitionsOf(slices.Concat(docs[len(docs)-1:], docs)...) // the newest first
	if i := slices.IndexFunc(o.Metrics, func(name string) bool { return metrics.MayBeZero("", name) }); i >= 0 {
		return nil, fmt.Errorf("metric %s may be 0, so it has no tolerance in percent", o.Metrics[i])
	}
	out := &results.Calibration{
		Scenario: docs[0].Scenario.Name, Confidence: results.Confidence, Cap: o.Cap,
		Environment: docs[0].Environment.Fingerprint,
	}
	for _, d := range docs {
		out.Sessions = append(out.Sessions, results.Calibrated{
			Session: d.Session.ID, Started: d.Session.Started, Weir: d.Weir.Version,
		})
		out.Simulated = out.Simulated || d.Simulated()
	}
	asserted := map[string][]string{}
	for _, d := range docs {
		for key, names := range assertedMetrics(d) {
			asserted[key] = append(asserted[key], names...)
		}
	}
	keys, cases := casesByKey(docs)
	for _, key := range keys {
		of := cases[key]
		targets, err := calibrateCase(metrics, of, asserted[key], o)
		if err != nil {
			return nil, err
		}
		out.Targets = append(out.Targets, targets...)
	}
	if len(out.Targets) == 0 {
		return nil, fmt.Errorf("%w: no assertion uses a metric with a better direction; choose metrics by --metric NAME or --all",
			ErrNothingCompared)
	}
	codes := []int{ExitPassed}
	for _, t := range out.Targets {
		switch {
		case t.Unusable:
			codes = append(codes, ExitExecution)
		case t.Refused != "":
			codes = append(codes, ExitInconclusive)
		}
	}
	out.ExitCode = Worst(codes...)
	return out, nil
}

// measuredCase is a case in one of the sessions.
type measuredCase struct {
	*results.Case
	doc *results.Document
}

// checkComparable rejects sessions that cannot be pooled.
func checkComparable(docs []*results.Document, single bool) error {
	first := docs[0]
	seen := map[string]bool{}
	for _, d := range docs {
		switch {
		case seen[d.Session.ID]:
			return fmt.Errorf("session %s is given twice", d.Session.ID)
		case d.Scenario.Name != first.Scenario.Name:
			return fmt.Errorf("sessions are of different scenarios, %s and %s", first.Scenario.Name, d.Scenario.Name)
		case d.Environment.Fingerprint != first.Environment.Fingerprint:
			var diff []string
			for _, x := range results.EnvironmentDifferences(first, d) {
				diff = append(diff, fmt.Sprintf("%s: %s -> %s", x.What, x.Base, x.New))
			}
			return fmt.Errorf("sessions %s and %s ran in different environments, so no reference holds for both: %s",
				first.Session.ID, d.Session.ID, strings.Join(diff, "; "))
		}
		seen[d.Session.ID] = true
	}
	if len(docs) < 2 && !single {
		return fmt.Errorf("one session does not show how sessions differ: give several, preferably of different days, or accept a single one by --single-session")
	}
	return nil
}

// casesByKey groups the cases in the plan, over all sessions, by key.
func casesByKey(docs []*results.Document) (keys []string, cases map[string][]measuredCase) {
	cases = map[string][]measuredCase{}
	for _, d := range docs {
		for _, c := range d.Cases {
			if !inPlan(c) {
				continue
			}
			if cases[c.Key] == nil {
				keys = append(keys, c.Key)
			}
			cases[c.Key] = append(cases[c.Key], measuredCase{c, d})
		}
	}
	return keys, cases
}

// ignoredDifferences are differences that are not settings of a case: the seed of the simulation, and what
// launches happened to use.
var ignoredDifferences = []string{
	"option sim_seed", results.FabricDiffers, results.TransportDiffers, results.NodesDiffer,
}

// calibrateCase proposes targets for the metrics of one case.
func calibrateCase(
	d *workload.Definitions, of []measuredCase, asserted []string, o CalibrateOptions,
) ([]*results.Target, error) {
	last := of[len(of)-1].Case
	for _, m := range of {
		for _, d := range results.CaseDifferences([]results.CasePair{{Base: m.Case, New: last}}) {
			if !slices.Contains(ignoredDifferences, d.What) && !strings.HasPrefix(d.What, results.VariableDiffers) &&
				!strings.HasPrefix(d.What, results.ProviderDiffers) &&
				!strings.HasPrefix(d.What, results.LibraryDiffers) {
				return nil, fmt.Errorf("sessions have different settings of case %s: %s is %q and %q", last.Key,
					d.What, d.Base, d.New)
			}
		}
	}
	all := d.Of(last.Workload, last.Run).Definitions
	if len(all) == 0 {
		return nil, fmt.Errorf("case %s has workload %q, which this version of weir does not know", last.Key,
			last.Workload)
	}
	var out []*results.Target
	for _, m := range all {
		switch {
		case slices.Contains(o.Metrics, m.Name):
		case len(o.Metrics) > 0 && !o.All, m.Better == workload.Neither, m.MayBeZero:
			continue
		case o.All && !measuredIn(d, of, m.Name):
			continue
		case !o.All && !slices.Contains(asserted, m.Name):
			continue
		}
		t := &results.Target{
			Case: last.Key, Run: last.Run, Axes: last.Axes, AxisOrder: last.AxisOrder, Metric: m.Name, Unit: m.Unit,
		}
		if why := unusableReason(d, of, m); why != "" {
			t.Refused, t.Unusable = why, true
		} else {
			t.Refused = propose(t, of, o)
		}
		out = append(out, t)
	}
	return out, nil
}

// measuredIn reports whether some session has the metric of the case.
func measuredIn(d *workload.Definitions, of []measuredCase, metric string) bool {
	return slices.ContainsFunc(of, func(x measuredCase) bool { return shared(d, casePair{x.Case, x.Case}, metric) })
}

// unusableReason says why a session's values of the metric cannot be used; "": all can.
func unusableReason(d *workload.Definitions, of []measuredCase, metric workload.Metric) string {
	for _, m := range of {
		o, bad := unusable(m.Case)
		if !bad {
			leaf := &assertion.Expr{Op: assertion.Metric, Metric: metric.Name, Unit: metric.Unit}
			_, err := newVariable(d, 0, &source{launches: m.Succeeded()}, leaf, true)
			if err == nil {
				continue
			}
			o.reasons = []results.Reason{reasonOf(err)}
		}
		return fmt.Sprintf("session %s cannot be used: %s", m.doc.Session.ID, wording.Message(o.reasons))
	}
	return ""
}

// propose fills in a target; it returns why the target cannot be used, or "".
func propose(t *results.Target, of []measuredCase, o CalibrateOptions) string {
	data := nestedOf(of, t.Metric)
	for _, m := range of {
		t.Launches += len(m.Succeeded())
	}
	t.Sessions = len(of)
	if t.Sessions < 2 && !o.SingleSession {
		return "only one session measured it"
	}
	c := componentsOf(data)
	if c.launch.df == 0 {
		return "no session has two launches of it"
	}
	t.Value, t.Noise, t.Look = unlog(c.mean), c.noise(), launchesForTolerance(t, of, o)
	t.Tolerance = c.tolerance(t.Look, 0)
	if t.Tolerance > o.Cap {
		if more := c.tolerance(t.Look, enoughSessions-1); more <= o.Cap && c.session.df < enoughSessions-1 {
			return fmt.Sprintf("%s are too few to show how sessions differ: a tolerance would have to be %s, from %d sessions of this noise about %s",
				wording.Counted(t.Sessions, "session"), percentText(t.Tolerance), enoughSessions, percentText(more))
		}
		return fmt.Sprintf("reduce the noise first: %s; a tolerance would have to be %s, more than %s",
			noiseText(t.Noise), percentText(t.Tolerance), percentText(o.Cap))
	}
	return ""
}

// enoughSessions is the number of sessions beyond which a tolerance hardly narrows.
const enoughSessions = 5

// launchesForTolerance is the number of launches that a new session is judged by: the last interim
// analysis of the metric's assertions, or the fewest launches of any session.
func launchesForTolerance(t *results.Target, of []measuredCase, o CalibrateOptions) int {
	if o.Launches > 0 {
		return o.Launches
	}
	atLaunch, fewest := 0, 0
	for _, m := range of {
		if n := len(m.Succeeded()); fewest == 0 || n < fewest {
			fewest = n
		}
		for _, a := range m.Assertions {
			if len(a.Looks) > 0 && slices.Contains(a.Subject.Metrics(), t.Metric) {
				atLaunch = max(atLaunch, slices.Max(a.Looks))
			}
		}
	}
	return cmp.Or(atLaunch, fewest)
}

// tolerance returns the half-width of bounds around the mean, as a share rounded up, in which a new
// session of n launches passes. It uses the upper side, which is wider: e^d − 1 > 1 − e^−d. df is as for
// predictionHalfWidth.
func (c components) tolerance(n int, df float64) float64 {
	d := c.predictionHalfWidth(n, results.Confidence, df)
	if n > 1 { // a single launch has no interval
		d += student(float64(n-1), results.Confidence) * math.Sqrt(c.launch.value/float64(n))
	}
	return roundedUp(math.Expm1(d))
}

// roundedUp rounds a share up to a multiple of 0.5 % below 5 %, of 1 % below 20 %, of 5 % beyond; never to
// 0.
func roundedUp(share float64) float64 {
	percent, step := quantity.Round(share*100), 5.
	switch {
	case percent <= 5:
		step = 0.5
	case percent <= 20:
		step = 1
	}
	return quantity.Round(max(0.5, math.Ceil(quantity.Round(percent/step))*step) / 100)
}

// nodesOf lists the nodes that launches ran on.
func nodesOf(launches []*results.Launch) string {
	var names []string
	for _, l := range launches {
		names = append(names, l.Nodes...)
	}
	names = distinct(names)
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func noiseText(list []results.Component) string {
	var parts []string
	for _, c := range list {
		parts = append(parts, fmt.Sprintf("%s vary by %s", c.Of, wording.Percent(c.CV)))
	}
	return strings.Join(parts, ", ")
}

func percentText(share float64) string {
	return results.Percent.WithUnit(results.Percent.Exact(share))
}

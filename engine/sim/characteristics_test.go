package sim

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/results/assertion"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/transfer"
)

// looks are the default interim analyses of scenarios.
var looks = []int{3, 5, 8, 12}

// target is the bandwidth in GB/s of the assertions of simulated sessions, with a band of 10 %.
const target = 10.

// conditions are the variations between launches.
type conditions struct {
	name              string
	noise             quantity.Percent
	stragglers, drift quantity.Percent
}

// session runs a whole session over fabric sim as the executor does: from the model to samples, metrics and verdicts,
// with more launches as long as the gate asks for them. It returns the verdict and the number of launches.
func session(seed int64, truth float64, c conditions) (results.Verdict, int, error) {
	o, err := transfer.Decode(option.Values{
		"fabric": "sim", "block_size": quantity.Size(64 << 10), "in_flight": int64(1), "sim_latency": quantity.Time(0),
		"sim_bandwidth": quantity.Rate(quantity.Round(truth * target * 1e9)), "sim_seed": seed,
		"sim_noise": c.noise, "sim_stragglers": c.stragglers, "sim_straggler_loss": quantity.Percent(0.15),
		"sim_drift": c.drift,
	})
	if err != nil {
		return "", 0, err
	}
	low, high := 0.9*target, 1.1*target
	verdict := &results.AssertionVerdict{Looks: looks, Assertion: assertion.Assertion{
		Name: "bandwidth", Severity: assertion.Gate, Unit: "GB/s", Bounds: assertion.Bounds{Lower: &low, Upper: &high},
		Subject: &assertion.Expr{Op: assertion.Metric, Metric: "bandwidth", Unit: "GB/s"},
	}}
	cs := &results.Case{
		Key: "c", Run: "c", Workload: "transfer", Status: results.OK, Assertions: []*results.AssertionVerdict{verdict},
	}
	doc := &results.Document{Schema: results.Schema, Cases: []*results.Case{cs}}
	s := New()
	for _, n := range looks {
		for i := len(cs.Launches); i < n; i++ {
			l := engine.Launch{
				Index: i, Fabric: "sim", Ranks: 2, Nodes: []string{"sim-1", "sim-1"}, Seed: uint64(i),
				Cases: []engine.Case{caseOf("c", o)},
			}
			p, err := s.Play(l)
			if err != nil {
				return "", 0, err
			}
			ranks, err := decoded(p.Cases[0].Ranks)
			if err != nil {
				return "", 0, err
			}
			m, err := transfer.Metrics(o, ranks)
			if err != nil {
				return "", 0, err
			}
			cs.Launches = append(cs.Launches, &results.Launch{
				Index: i, Status: results.OK, Verified: true, Metrics: results.ValuesOf(m),
			})
		}
		gate.Judge(doc)
		if len(gate.Undecided(doc)) == 0 {
			break
		}
	}
	return verdict.Verdict, len(cs.Launches), nil
}

// outcomes are the results of many sessions.
type outcomes struct {
	pass, fail, inconclusive, broken float64 // shares
	launches                         float64 // mean
}

func (o outcomes) String() string {
	return fmt.Sprintf("pass %5.1f %%  fail %5.1f %%  inconclusive %5.1f %%  %4.1f launches", o.pass*100, o.fail*100,
		o.inconclusive*100, o.launches)
}

// sessions runs n sessions, each with its own seed, on all processors.
func sessions(t *testing.T, n int, truth float64, c conditions) outcomes {
	t.Helper()
	verdicts := make([]results.Verdict, n)
	var launches atomic.Int64
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			v, made, err := session(int64(i), truth, c)
			verdicts[i] = v
			launches.Add(int64(made))
			return err
		})
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	share := func(verdict results.Verdict) float64 {
		count := 0
		for _, v := range verdicts {
			if v == verdict {
				count++
			}
		}
		return float64(count) / float64(n)
	}
	return outcomes{
		pass: share(results.Pass), fail: share(results.Fail), inconclusive: share(results.InconclusiveVerdict),
		broken: share(results.ErrorVerdict), launches: float64(launches.Load()) / float64(n),
	}
}

// The promised operating characteristics with launches that vary by 3 %: over 1000 sessions each, from the model
// through samples and metrics to the verdict.
func TestOperatingCharacteristics(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	const n = 1000
	quiet := conditions{noise: 0.03}
	for _, c := range []struct {
		truth                      float64 // true value over the target
		minPass, minFail           float64
		maxWronglyPass, maxWrongly float64 // wrong passes, and wrong fails
	}{
		{truth: 1.00, minPass: 0.99, maxWronglyPass: 1, maxWrongly: 0.01},
		{truth: 0.92, maxWronglyPass: 1, maxWrongly: 0.02},
		{truth: 0.88, maxWronglyPass: 0.02, maxWrongly: 1},
		{truth: 0.85, minFail: 0.99, maxWronglyPass: 0.01, maxWrongly: 1},
	} {
		o := sessions(t, n, c.truth, quiet)
		t.Logf("%.2f of the target: %s", c.truth, o)
		if o.pass < c.minPass || o.fail < c.minFail || o.pass > c.maxWronglyPass || o.fail > c.maxWrongly ||
			o.broken > 0 {
			t.Errorf("%.2f of the target: %s; promised are pass >= %g and <= %g, fail >= %g and <= %g, no errors",
				c.truth, o, c.minPass, c.maxWronglyPass, c.minFail, c.maxWrongly)
		}
	}
}

// The effect of stragglers and drift on verdicts, as a table in the log. They cost launches and decisions; a sound path
// that fails, or a bad one that passes, stays rare. Drift changes the true value between launches, so near the edge
// verdicts are only reported.
func TestCharacteristicsWithStragglersAndDrift(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	const n = 150
	for _, c := range []conditions{
		{name: "noise 3 %, 5 % stragglers up to 15 %", noise: 0.03, stragglers: 0.05},
		{name: "noise 6 %, 10 % stragglers up to 15 %", noise: 0.06, stragglers: 0.10},
		{name: "noise 3 %, drift 1 % per launch", noise: 0.03, drift: 0.01},
	} {
		for _, truth := range []float64{1.00, 0.95, 0.92, 0.90, 0.88, 0.85} {
			o := sessions(t, n, truth, c)
			t.Logf("%-38s %.2f of the target: %s", c.name, truth, o)
			if truth >= 1 && o.fail > 0.02 || truth <= 0.85 && o.pass > 0.02 || o.broken > 0 {
				t.Errorf("%s: at %.2f of the target %s", c.name, truth, o)
			}
		}
	}
}

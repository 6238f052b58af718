package sim

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/engine"
	"github.com/weir-bench/weir/internal/option"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/move"
)

// encoded is the complete result of a launch, samples included.
func encoded(t *testing.T, p *played) string {
	t.Helper()
	var b strings.Builder
	if err := json.NewEncoder(&b).Encode(p.Played); err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Played.Cases {
		for _, r := range c.Ranks {
			b.Write(r.Samples)
		}
	}
	return b.String()
}

func TestSameSeedSameBytes(t *testing.T) {
	varied := func(seed int64) move.Spec {
		return options(t, option.Values{
			"sim_seed": seed, "sim_noise": quantity.Percent(0.05), "sim_stragglers": quantity.Percent(0.3),
			"sim_drift":   quantity.Percent(0.01),
			"sim_failure": "20% run", "ranks": int64(4), "iterations": int64(1000),
		})
	}
	course := func(seed int64) string {
		s := New()
		var all string
		for i := range 10 {
			all += encoded(t, play(t, s, launchOf(i, varied(seed), varied(seed))))
		}
		return all
	}
	if first, second := course(1), course(1); first != second {
		t.Error("the same session gave other bytes")
	}
	if course(1) == course(2) {
		t.Error("another seed gave the same bytes")
	}
}

// Another rank and another case do not affect the others of a launch.
func TestRanksAndCasesAreIndependent(t *testing.T) {
	one := options(t, option.Values{"ranks": int64(4)})
	two := options(t, option.Values{"ranks": int64(8)})
	a := play(t, New(), launchOf(0, one)).Cases[0].Ranks[1].Samples
	b := play(t, New(), launchOf(0, two)).Cases[0].Ranks[1].Samples
	c := play(t, New(), launchOf(0, one, one)).Cases[0].Ranks[1].Samples
	if a.End-a.Start != b.End-b.Start || a.End-a.Start != c.End-c.Start {
		t.Errorf("rank 1 took %d, %d and %d ns", a.End-a.Start, b.End-b.Start, c.End-c.Start)
	}
}

// speeds returns the speeds of n launches, each of a session of its own.
func speeds(t *testing.T, n int, set option.Values) []float64 {
	t.Helper()
	var all []float64
	for i := range n {
		m := metrics(t, New(), launchOf(i, options(t, set)))
		all = append(all, m["ceiling.bandwidth"]/10)
	}
	return all
}

func TestNoiseAndStragglers(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	const n = 4000
	var sum, square float64
	for _, v := range speeds(t, n, option.Values{"sim_noise": quantity.Percent(0.03)}) {
		sum += math.Log(v)
		square += math.Log(v) * math.Log(v)
	}
	if mean, sd := sum/n, math.Sqrt(square/n-sum/n*sum/n); math.Abs(mean) > 0.002 || math.Abs(sd-0.03) > 0.0015 {
		t.Errorf("the logarithm of speed is %.4f ± %.4f, want 0 ± 0.03", mean, sd)
	}
	slow, least := 0., 1.
	for _, v := range speeds(t, n, still(option.Values{
		"sim_stragglers": quantity.Percent(0.1), "sim_straggler_loss": quantity.Percent(0.4),
	})) {
		if v < 1-1e-9 {
			slow++
		}
		least = min(least, v)
	}
	if slow/n < 0.08 || slow/n > 0.12 || least < 0.6-1e-9 || least > 0.63 {
		t.Errorf("%.1f%% of launches are slower, the slowest %.3f; want 10%% and a little above 0.6", slow/n*100, least)
	}
}

// All groups of a session share one walk, but not its start.
func TestGroupsOfASessionShareDrift(t *testing.T) {
	phase.NotUnderRace(t)
	set := still(option.Values{"sim_drift": quantity.Percent(0.01)})
	steady := options(t, still(nil))
	s := New()
	at := func(index int, o move.Spec) float64 {
		return math.Log(metrics(t, s, launchOf(index, o))["ceiling.bandwidth"] / 10)
	}
	first := at(0, options(t, set))
	second := at(100, options(t, set)) // of another group
	undrifted := at(200, steady)       // takes a step, without its effect
	fourth := at(1, options(t, set))
	if math.Abs(first) > 1e-9 || math.Abs(undrifted) > 1e-9 {
		t.Errorf("the first launch is at %v and one without drift at %v, want 0", first, undrifted)
	}
	w := newWalk(1)
	if math.Abs(second-0.01*w.after(1)) > 1e-9 || math.Abs(fourth-0.01*w.after(3)) > 1e-9 {
		t.Errorf("launches 1 and 3 are at %v and %v, off the walk", second, fourth)
	}
}

// Launches follow each other on one virtual clock without waiting.
func TestVirtualClock(t *testing.T) {
	o := options(t, still(option.Values{
		"iterations": int64(1000), "warmup": int64(0), "verify": "none", "in_flight": int64(1),
		"sim_latency": quantity.Time(1e6),
	}))
	s := New()
	begin := time.Now()
	a, b := play(t, s, launchOf(0, o, o)), play(t, s, launchOf(1, o))
	if took := time.Since(begin); took.Seconds() > b.Ended.Seconds() {
		t.Errorf("%v of virtual time took %v", b.Ended, took)
	}
	if a.Began != 0 || a.Connected <= a.Began || a.Cases[0].From != a.Connected || a.Cases[1].From != a.Cases[0].To ||
		a.Ended != a.Cases[1].To || b.Began != a.Ended {
		t.Errorf("the launches are at %+v and %+v", a, b)
	}
	if d := (a.Cases[0].To - a.Cases[0].From).Seconds(); math.Abs(d-1.1048576) > 1e-6 {
		t.Errorf("1000 requests of 1.1048576 ms took %v s", d)
	}
	if start := a.Cases[1].Ranks[0].Samples.Start; start != int64(a.Cases[1].From) {
		t.Errorf("the second case starts at %d, want %d", start, a.Cases[1].From)
	}
}

func TestFailures(t *testing.T) {
	for _, c := range []struct {
		text, phase, kind string
		rank, cases       int
	}{
		{"launch 2 rank 1 run", "run", results.Fault, 1, 0},
		{"launch 2 rank 0 ready", "ready", results.FailedReady, 0, 0},
		{"launch 2 rank 1 connect", "connect", results.FailedLink, 1, 0},
		{"launch 2 rank 1 verify", "verify", results.Wrong, 1, 0},
		{"launch 2 rank 1 teardown crash", "teardown", results.Crashed, 1, 2},
		{"launch 2 rank 1 lost", "run", results.NodeLost, 1, 0},
		{"launch 2 rank 0 run, launch 2 rank 1 connect", "connect", results.FailedLink, 1, 0},
	} {
		o := options(t, option.Values{"sim_failure": c.text})
		s := New()
		if p := play(t, s, launchOf(1, o, o)); p.Failure != nil || len(p.Cases) != 2 {
			t.Errorf("%s: launch 1 has %v", c.text, p.Failure)
		}
		p := play(t, s, launchOf(2, o, o))
		if f := p.Failure; f == nil || f.Phase != c.phase || f.Kind != c.kind || f.Rank != c.rank ||
			f.Node != "sim-1" || !strings.HasPrefix(f.Cause, "simulated: ") || len(p.Cases) != c.cases {
			t.Errorf("%s: launch 2 came to %d cases and has %+v", c.text, len(p.Cases), f)
		}
		if p := play(t, s, launchOf(2, o, o)); p.Failure != nil {
			t.Errorf("%s: launch 2 failed again: %s", c.text, p.Failure)
		}
	}
}

func TestFailuresByChance(t *testing.T) {
	phase.Long(t)
	phase.NotUnderRace(t)
	o := options(t, option.Values{"sim_failure": "10% run timeout", "ranks": int64(4)})
	s := New()
	failed, ranks, reached := 0., map[int]bool{}, map[int]bool{}
	for i := range 2000 {
		if p := play(t, s, launchOf(i, o, o, o)); p.Failure != nil {
			failed++
			ranks[p.Failure.Rank] = true
			reached[len(p.Cases)] = true
		}
	}
	if failed/2000 < 0.08 || failed/2000 > 0.12 || len(ranks) != 4 || len(reached) != 3 {
		t.Errorf("%.1f%% failed, at ranks %v after %v cases; want 10%%, everywhere", failed/20, ranks, reached)
	}
	always := options(t, option.Values{"sim_failure": "100% connect"})
	for range 3 {
		if p := play(t, s, launchOf(0, always)); p.Failure == nil {
			t.Error("a launch that always fails went well")
		}
	}
}

func TestDeadlineInVirtualTime(t *testing.T) {
	l := launchOf(0, options(t, option.Values{"iterations": int64(1e9)}))
	l.Cases[0].Timeout = int64(time.Minute)
	p := play(t, New(), l)
	if f := p.Failure; f == nil || f.Kind != results.TimedOut || f.Rank != -1 ||
		!strings.Contains(f.Cause, "did not finish within 1m0s in case case0") {
		t.Fatalf("the failure is %+v", f)
	}
	if p.Ended-p.Connected != time.Minute {
		t.Errorf("it ended after %v", p.Ended-p.Connected)
	}
	l.Cases[0].Timeout = 0
	large := specOf(t, l.Cases[0])
	large.BlockSize, large.Iterations = 1<<40, 1<<40
	l.Cases[0] = caseOf("case0", large)
	if f := play(t, New(), l).Failure; f == nil ||
		!strings.Contains(f.Cause, "more bytes or time than can be counted") {
		t.Errorf("the failure is %+v", f)
	}
}

func TestUnmodelledCasesAreRejected(t *testing.T) {
	good := options(t, nil)
	other, pattern := good, good
	other.Fabric, other.Sim = "shm", nil
	pattern.Pattern = "star"
	empty := launchOf(0, good)
	empty.Cases = nil
	for want, l := range map[string]engine.Launch{
		"has no cases":               empty,
		"case0 is not of fabric sim": launchOf(0, other),
		`no model of pattern "star"`: launchOf(0, pattern),
	} {
		if p, err := New().Play(l); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("played %+v, %v; want %q", p, err, want)
		}
	}
}

// A thousand ranks are simulated as a few are; benchmarks measure the cost.
func TestManyRanks(t *testing.T) {
	m := metrics(t, New(), launchOf(0, options(t, option.Values{"ranks": int64(1024), "iterations": int64(256)})))
	if want := m["bandwidth.min_rank"] * 512; m["bandwidth"] < want || m["bandwidth"] > want*1.05 {
		t.Errorf("512 initiators give %v GB/s together, the slowest %v", m["bandwidth"], m["bandwidth.min_rank"])
	}
}

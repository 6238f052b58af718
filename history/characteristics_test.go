package history

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/weir-bench/weir/test/golden"
	"github.com/weir-bench/weir/test/phase"
)

// model gives the values of the sessions of a history, on the log scale.
type model struct {
	n        int
	sd, rho  float64
	level    func(i int) float64
	heavy    bool    // noise of Student's distribution with 3 degrees of freedom
	launches []int   // of sessions, in turns; nil: launches vary by nothing
	launch   float64 // what these vary by
}

func flat(int) float64 { return 0 }

// stepped is a level that differs by this share from one session until before another.
func stepped(from, to int, by float64) func(int) float64 {
	return func(i int) float64 {
		if i >= from && i < to {
			return math.Log1p(by)
		}
		return 0
	}
}

// ramp is a level that changes by this much with each session.
func ramp(by float64) func(int) float64 { return func(i int) float64 { return by * float64(i) } }

// points are those of the history of a seed.
func (m model) points(seed uint64) []Point {
	r := rand.New(rand.NewPCG(seed, 21))
	noise := func() float64 {
		if !m.heavy {
			return r.NormFloat64()
		}
		chi := 0.
		for range 3 {
			x := r.NormFloat64()
			chi += x * x
		}
		return r.NormFloat64() / math.Sqrt(chi/3) / math.Sqrt(3)
	}
	var out []Point
	x := noise()
	for i := range m.n {
		if i > 0 {
			x = m.rho*x + math.Sqrt(1-m.rho*m.rho)*noise()
		}
		center := m.level(i) + m.sd*x
		p := Point{Value: math.Exp(center), N: 5}
		if m.launches != nil {
			p.N = m.launches[i%len(m.launches)]
			sum := 0.
			for range p.N {
				v := center + m.launch*r.NormFloat64()
				sum += v
				p.launches = append(p.launches, math.Exp(v))
			}
			p.Value = math.Exp(sum / float64(p.N))
		}
		out = append(out, p)
	}
	return out
}

// outcomes are what is found in many histories.
type outcomes struct {
	any   float64 // histories with an alarm, in percent
	right float64 // histories with the true changes, each up to one session off
}

func (m model) run(t testing.TB, histories int, at ...int) outcomes {
	t.Helper()
	found := make([][]int, histories)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range histories {
		g.Go(func() error {
			cuts, drifts := detectChanges(seriesOf(m.points(uint64(i))), 0.05, 0.03)
			for _, c := range cuts {
				if c.reported > 0 {
					found[i] = append(found[i], c.at)
				}
			}
			for range drifts {
				found[i] = append(found[i], drifting)
			}
			return nil
		})
	}
	_ = g.Wait() // no history fails
	var o outcomes
	part := 100 / float64(histories)
	near := func(a, b int) bool { return a-b <= 1 && b-a <= 1 }
	for _, places := range found {
		if len(places) > 0 {
			o.any += part
		}
		if slices.EqualFunc(places, at, near) {
			o.right += part
		}
	}
	return o
}

// drifting stands for a drift among the places of changes.
const drifting = -10

const repaired = -0.0582 // four standard deviations of 1.5 %

// histories are the rows of the table of operating characteristics.
var histories = []struct {
	name  string
	model model
	at    []int // the true changes
	most  float64
	least float64 // of histories with an alarm: the bars, in percent; 0: none
}{
	{name: "30 sessions, noise 1.5 %, no change", model: model{n: 30, sd: 0.015, level: flat}, most: 2},
	{name: "the same with autocorrelation 0.5", model: model{n: 30, sd: 0.015, rho: 0.5, level: flat}, most: 5},
	{
		name:  "30 sessions, noise 4 %, autocorrelation 0.5",
		model: model{n: 30, sd: 0.04, rho: 0.5, level: flat}, most: 6,
	},
	{name: "the same with autocorrelation 0.7", model: model{n: 30, sd: 0.04, rho: 0.7, level: flat}},
	{
		name:  "120 sessions, noise 4 %, autocorrelation 0.5",
		model: model{n: 120, sd: 0.04, rho: 0.5, level: flat}, most: 11,
	},
	{
		name:  "120 sessions, a regression of 4 standard deviations for ten of them near the end",
		model: model{n: 120, sd: 0.015, level: stepped(100, 110, repaired)}, at: []int{100, 110}, least: 90,
	},
	{
		name:  "30 sessions, heavy tails (t with 3 degrees of freedom, 4 %)",
		model: model{n: 30, sd: 0.04, heavy: true, level: flat}, most: 5,
	},
	{
		name:  "a regression of 4 standard deviations (5.8 %) for ten sessions, then repaired",
		model: model{n: 30, sd: 0.015, level: stepped(10, 20, repaired)}, at: []int{10, 20}, least: 90,
	},
	{
		name:  "the same with autocorrelation 0.5",
		model: model{n: 30, sd: 0.015, rho: 0.5, level: stepped(10, 20, repaired)}, at: []int{10, 20},
	},
	{
		name:  "-5 % from the 16th session on, noise 1 %",
		model: model{n: 30, sd: 0.01, level: stepped(15, 30, -0.05)}, at: []int{15}, least: 95,
	},
	{
		name:  "-5 % in the last three sessions, noise 1 %",
		model: model{n: 30, sd: 0.01, level: stepped(27, 30, -0.05)}, at: []int{27}, least: 90,
	},
	{
		name:  "-5 % from the 16th session on, noise 3 %",
		model: model{n: 30, sd: 0.03, level: stepped(15, 30, -0.05)}, at: []int{15},
	},
	{
		name: "-5 % from the 16th session on, 3 or 24 launches that vary by 4 %",
		model: model{
			n: 30, sd: 0.005, launches: []int{3, 24}, launch: 0.04, level: stepped(15, 30, -0.05),
		}, at: []int{15},
	},
	{
		name:  "the same launches, no change",
		model: model{n: 30, sd: 0.005, launches: []int{3, 24}, launch: 0.04, level: flat}, most: 5,
	},
	{
		name:  "a ramp of -0.2 % a session, noise 1 %",
		model: model{n: 30, sd: 0.01, level: ramp(-0.002)}, at: []int{drifting},
	},
	{
		name:  "a ramp of -0.5 % a session for 20 sessions, noise 1 %",
		model: model{n: 20, sd: 0.01, level: ramp(-0.005)}, at: []int{drifting}, least: 90,
	},
	{
		name:  "a ramp of -1 % a session for ten sessions, noise 1 %",
		model: model{n: 10, sd: 0.01, level: ramp(-0.01)}, at: []int{drifting}, least: 40,
	},
	{
		name:  "a ramp of -1 % a session for 20 sessions, noise 0.5 %, autocorrelation 0.5",
		model: model{n: 20, sd: 0.005, rho: 0.5, level: ramp(-0.01)}, at: []int{drifting}, least: 95,
	},
}

// The bars hold: few false alarms, also where sessions resemble their neighbours, and regressions
// are found although they were repaired.
func TestHistoriesAndTheirAlarms(t *testing.T) {
	phase.NotUnderRace(t)
	n := 120
	if phase.AtLength() {
		n = 3000
	}
	for _, h := range histories {
		if h.most == 0 && h.least == 0 {
			continue
		}
		got := h.model.run(t, n, h.at...)
		t.Logf("%s: %.1f%% with an alarm, %.1f%% right", h.name, got.any, got.right)
		room := func(bar float64) float64 { return 300 * math.Sqrt(bar/100*(1-bar/100)/float64(n)) }
		if phase.AtLength() {
			room = func(float64) float64 { return 0 }
		}
		if h.most > 0 && got.any > h.most+room(h.most) {
			t.Errorf("%s: %.2f%% have an alarm, at most %v%% may", h.name, got.any, h.most)
		}
		if h.least > 0 && got.any < h.least-room(h.least) {
			t.Errorf("%s: %.2f%% have an alarm, at least %v%% must", h.name, got.any, h.least)
		}
	}
}

// The table of statistics is that of series without a change.
func TestStatisticsOfSeriesWithoutAChange(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	const n = 20000
	greatest, steepest := make([]float64, n), make([]float64, n)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i := range n {
		g.Go(func() error {
			s := seriesOf(model{n: 30, sd: 1, rho: 0.5, level: flat}.points(uint64(i)))
			for k := FirstLook; k <= 30; k++ {
				_, ratio := s.upTo(k).best(nil, 0, k)
				greatest[i] = max(greatest[i], ratio)
				steepest[i] = max(steepest[i], s.upTo(k).slope(nil).ratio)
			}
			return nil
		})
	}
	_ = g.Wait() // no series fails
	for name, of := range map[string]struct {
		table  []exceeded
		values []float64
	}{"change": {statistics, greatest}, "line": {slopes, steepest}} {
		slices.Sort(of.values)
		for _, row := range of.table {
			at, _ := slices.BinarySearch(of.values, row.ratio)
			got := float64(n-at) / n
			t.Logf("%s: %v is reached by %.4f of series, %v is written; the quantile is %.2f", name, row.ratio, got,
				row.p, of.values[int((1-row.p)*n)])
			if math.Abs(got-row.p) > 4*math.Sqrt(row.p/n)+0.1*row.p {
				t.Errorf("%s: %v is reached by %v of series, %v is written", name, row.ratio, got, row.p)
			}
		}
	}
}

// The page of weir docs statistics has the table that this detector gives.
func TestPageOfStatistics(t *testing.T) {
	phase.Rest(t)
	phase.NotUnderRace(t)
	const simulated = 1000
	var b strings.Builder
	fmt.Fprintf(&b, "| %d histories a row ", simulated)
	b.WriteString("| with an alarm % | exactly the true changes % |\n|---|---:|---:|\n")
	for _, h := range histories {
		got := h.model.run(t, simulated, h.at...)
		fmt.Fprintf(&b, "| %s | %.1f | %.1f |\n", h.name, got.any, got.right)
	}
	golden.After(t, "statistics.md", "Histories of each row have fixed seeds.\n\n", b.String())
}

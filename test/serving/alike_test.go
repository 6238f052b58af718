package serving

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload/serving"
	"github.com/weir-bench/weir/workload/serving/load"
)

// A simulated session has two variants of a server, with launches that take turns A B B A. In
// each launch users send one request after the other.
const (
	launches = 5
	requests = 60
	users    = 4
	tokens   = 20
)

// server is a model of one: times are lognormal around a level, which differs from launch to launch.
type server struct {
	first, gap float64 // ms
	spread     float64 // of a request
}

// play lets users load the server in a launch, and gives what their clients record.
func (s server) play(r *rand.Rand, level float64) (list []load.Record) {
	at := func(ms float64) int64 { return int64(ms * 1e6) }
	var free [users]float64
	for i := range requests {
		u := 0
		for k := range free {
			if free[k] < free[u] {
				u = k
			}
		}
		start := free[u]
		first := start + s.first*level*math.Exp(s.spread*r.NormFloat64())
		rec := load.Record{
			Index: i, Phase: load.Measured, Session: i, Status: 200, Due: load.Never, Slot: at(start), Start: at(start),
			Connected: at(start), Sent: at(start), Headers: at(start), First: at(first), FirstContent: at(first),
			AskedInput: 100, AskedOutput: tokens, Input: 100, Output: tokens, Cached: 0, Source: load.ByUsage,
		}
		now := first
		for n := range tokens {
			if n > 0 {
				now += s.gap * level * math.Exp(s.spread*r.NormFloat64())
			}
			rec.Events = append(rec.Events, load.Event{At: at(now), Tokens: load.Unknown})
		}
		rec.Last, rec.Done = at(now), at(now)
		free[u] = now
		list = append(list, rec)
	}
	return list
}

// drifts are how the level of a machine moves before each launch.
var drifts = map[string]func(r *rand.Rand, launch int) float64{
	"none":        func(*rand.Rand, int) float64 { return 0 },
	"steady":      func(*rand.Rand, int) float64 { return 0.02 },
	"random walk": func(r *rand.Rand, _ int) float64 { return 0.02 * r.NormFloat64() },
	"a step":      func(_ *rand.Rand, launch int) float64 { return map[bool]float64{true: 0.1}[launch == 5] },
}

// session is one of two variants, of which the second has times that are ratio of the first's.
func session(t *testing.T, spec *serving.Spec, seed uint64, ratio float64,
	drift func(*rand.Rand, int) float64) *results.Document {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 20))
	doc := &results.Document{Schema: results.Schema, Gains: []*results.Gains{{Run: "load", Baseline: "before"}}}
	for _, variant := range []string{"before", "after"} {
		doc.Cases = append(doc.Cases, &results.Case{
			Key: "load[variant=" + variant + "]", Run: "load", Workload: serving.Kind.Name, Status: results.OK,
			Axes: map[string]any{"variant": variant}, Options: map[string]any{},
		})
	}
	level := 0.
	for at := range 2 * launches {
		level += drift(r, at)
		side := (at + at/2) % 2 // A B B A
		s := server{first: 40, gap: 5, spread: 0.1}
		if side == 1 {
			s.first, s.gap = s.first*ratio, s.gap*ratio
		}
		c := doc.Cases[side]
		c.Launches = append(c.Launches, &results.Launch{
			Index: len(c.Launches), Status: results.OK, Verified: true, Nodes: []string{"here"},
			Started: time.Date(2026, 11, 24, 12, at, 0, 0, time.UTC),
			Metrics: results.ValuesOf(serving.Summarize(spec, s.play(r, math.Exp(level+0.01*r.NormFloat64())))),
		})
	}
	gate.Judge(doc)
	return doc
}

func TestVariantsThatAreAlike(t *testing.T) {
	compareVariants(t, 30)
}

func TestTwoHundredSessionsOfVariantsThatAreAlike(t *testing.T) {
	phase.Rest(t)
	compareVariants(t, 200)
}

// compareVariants checks that two variants that are the same server are called different in at most
// 5 % of sessions, by each of what users feel, however the machine drifts; and that one that is a
// tenth faster is found.
func compareVariants(t *testing.T, sessions int) {
	t.Helper()
	values, err := serving.Kind.Normalize(map[string]any{
		"url": "http://127.0.0.1:1", "model": "m", "requests": fmt.Sprint(requests), "concurrency": fmt.Sprint(users),
	})
	if err != nil {
		t.Fatal(err)
	}
	spec, err := serving.Decode(values)
	if err != nil {
		t.Fatal(err)
	}
	felt := []string{"ttft.p50", "itl.p50", "latency.p50", "output_throughput"}
	found := func(drift string, ratio float64) map[string]int {
		count := map[string]int{}
		for seed := range sessions {
			for _, g := range session(t, spec, uint64(seed), ratio, drifts[drift]).Gains[0].Rows {
				if g.Gain != nil && g.Gain.CI != nil {
					count["told "+g.Metric]++
				}
				if g.Gain != nil && g.Gain.Found {
					count[g.Metric]++
				}
			}
		}
		return count
	}
	for _, drift := range slices.Sorted(maps.Keys(drifts)) {
		alike, faster := found(drift, 1), found(drift, 0.9)
		for _, m := range felt {
			alarms, power := float64(alike[m])/float64(sessions), float64(faster[m])/float64(sessions)
			t.Logf("drift %s, %s: %.1f %% of alike variants called different, a tenth found in %.1f %%", drift, m,
				alarms*100, power*100)
			if alike["told "+m] != sessions {
				t.Errorf("drift %s: %s was compared in %d of %d sessions", drift, m, alike["told "+m], sessions)
			}
			if alarms > 0.05 {
				t.Errorf("drift %s: %s of variants that are alike is called different in %.1f %% of sessions", drift, m,
					alarms*100)
			}
			// a step in the middle of a session looks like noise to it, which hides a difference
			if least := map[bool]float64{true: 0.3, false: 0.9}[drift == "a step"]; power < least {
				t.Errorf("drift %s: %s that is a tenth better is found in %.1f %% of sessions", drift, m, power*100)
			}
		}
	}
}

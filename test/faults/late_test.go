package faults

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/gate"
	"github.com/weir-bench/weir/results"
)

// within has all ranks on one node; only the agent of the node is far from the coordinator.
const within = `
scenario: within
runs:
  within:
    workload: transfer
    place: {nodes: 1}
    options: {fabric: shm, block_size: 4KiB, iterations: 50, warmup: 5}
    launches: 3
    timeout: 20s
`

// overLate has what is timed by the clocks of two hosts, briefly and for long, and what is
// timed by that of one.
const overLate = `
scenario: late
runs:
  pingpong:
    workload: transfer
    place: {nodes: 2}
    options: {fabric: tcp, mode: pingpong, block_size: 64B, iterations: 5, warmup: 1}
    launches: 1
    assert: [latency.p50 <= 10s]
  pattern:
    workload: traffic
    place: {nodes: 2}
    options: {fabric: tcp, matrix: [[0, 64K], [64K, 0]], iterations: 5, warmup: 1}
    launches: 1
    assert: [latency.p50 <= 10s]
  sequence:
    workload: traffic_sequence
    place: {nodes: 2}
    options: {fabric: tcp, patterns: [{matrix: [[0, 64K], [64K, 0]]}, {matrix: [[0, 64K], [0, 0]]}]}
    launches: 1
    assert: [latency.p50 <= 10s]
  both:
    workload: transfer
    place: {nodes: 2}
    options: {fabric: tcp, block_size: 4KiB, bidirectional: true, iterations: 20, warmup: 1}
    launches: 1
    assert: [latency.p50 <= 10s]
  long:
    workload: transfer
    place: {nodes: 2}
    options: {fabric: tcp, block_size: 4KiB, bidirectional: true, duration: 2s, warmup: 1}
    launches: 1
    assert: [latency.p50 <= 10s]
`

// TestLateLink: what is late is measured as late, and what the clocks of hosts that are far
// from each other cannot tell is an error and not a number.
func TestLateLink(t *testing.T) {
	w := small(t)
	if w.lab == nil {
		t.Skip("there are no links without root")
	}
	w.scenario = overLate
	far := w.nodes[1]
	const trip = 20 * time.Millisecond
	half := (trip / 2).Seconds()
	for _, to := range []time.Duration{trip / 2, 0} { // what comes of it must not depend on which way is the longer
		far.host.Late(to, trip-to)
		s := w.run("")
		s.wait(3 * bound) // whatever fills a path takes long where each answer does
		doc := s.ends(gate.ExitExecution)
		if doc == nil {
			t.Fatal(w.tail(s.log))
		}
		for _, f := range failures(doc) {
			t.Errorf("a launch failed of it: %v", f)
		}
		for _, n := range doc.Environment.Nodes {
			o := n.ClockOffset
			if math.Abs(o.Value) > o.Bound { // all hosts have this machine's clock
				t.Errorf("of the clock of node %s it says %+v", n.Name, o)
			}
			if n.Name == far.name && o.Bound < half {
				t.Errorf("it knows the clock of a node that is %v away to %v s", trip, o.Bound)
			}
		}
		for _, c := range doc.Cases {
			for _, l := range c.Launches {
				if l.Metrics.At("clock.bound") < half {
					t.Errorf("%s: it knows the clocks of ranks that are %v apart to %v s", c.Key, trip,
						l.Metrics.At("clock.bound"))
				}
				if c.Run == "pingpong" && l.Metrics.At("latency.min") < half { // of half a round trip
					t.Errorf("half of %v is done in %v s", trip, l.Metrics.At("latency.min"))
				}
			}
			tooBrief(t, c)
		}
	}
}

// tooBrief holds a case's verdicts to what the clocks of its hosts can tell.
func tooBrief(t *testing.T, c *results.Case) {
	t.Helper()
	m := c.Launches[0].Metrics
	var took float64
	switch c.Run {
	case "pattern", "sequence":
		took = m.At("latency.p50")
	case "both", "long":
		took = m.At("requests") / m.At("message_rate")
	}
	want := took > 0 && took < 10*m.At("clock.bound")
	t.Logf("%s takes %.3f s by clocks that are known to %.3f s", c.Key, took, m.At("clock.bound"))
	if len(c.Assertions) != 1 {
		t.Fatalf("%s has %d verdicts", c.Key, len(c.Assertions))
	}
	a := c.Assertions[0]
	said := strings.Contains(a.Message, "the clocks of its hosts are synchronised to ")
	if said != want || want != (a.Verdict == results.ErrorVerdict) {
		t.Errorf("%s is judged %s: %s", c.Key, a.Verdict, a.Message)
	}
}

// TestFarAgents: agents from which an answer takes a fifth of a second are there.
func TestFarAgents(t *testing.T) {
	w := small(t)
	if w.lab == nil {
		t.Skip("there are no links without root")
	}
	for _, n := range w.nodes {
		n.host.Late(100*time.Millisecond, 100*time.Millisecond)
	}
	w.scenario = within
	s := w.run("")
	for _, f := range failures(s.ends(0)) {
		t.Errorf("a launch failed of it: %v", f)
	}
	if slices.ContainsFunc(s.happened(), func(e event.Event) bool { return e.Type == event.NodeLost }) {
		t.Errorf("an agent was taken for dead\n%s", w.tail(s.log))
	}
}

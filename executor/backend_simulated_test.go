package executor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/weir-bench/weir/engine/sim"
	"github.com/weir-bench/weir/executor/event"
	"github.com/weir-bench/weir/executor/ledger"
	"github.com/weir-bench/weir/internal/quantity"
	"github.com/weir-bench/weir/planner"
	"github.com/weir-bench/weir/results"
	"github.com/weir-bench/weir/test/phase"
	"github.com/weir-bench/weir/workload"
	"github.com/weir-bench/weir/workload/move"
)

// aSimulation is a simulated case.
func aSimulation(key string, change ...func(*planner.Case)) *planner.Case {
	return aCase(key, append([]func(*planner.Case){withOption("fabric", "sim")}, change...)...)
}

// A session that only simulates starts neither etcd nor agents nor processes, and leaves the same files as any
// other.
func TestSimulatedSession(t *testing.T) {
	b := newBench(t)
	two := func(c *planner.Case) { c.Place.Nodes = 2 }
	a, c := aSimulation("a[x=1]", two), aSimulation("a[x=2]", two, withOption("block_size", quantity.Size(1<<20)))
	p := aPlan([]*planner.Case{a, c}, aGroup("a", []*planner.Case{a, c}, 3))
	p.Cluster.Nodes, p.Cluster.GPUsPerNode = 2, 4
	doc := b.run(p, func(o *Options) {
		o.RankCommand, o.ProbeCommand = []string{"/nonexistent/rank"}, []string{"/nonexistent/probe"}
		o.Etcd.Endpoints = []string{"http://127.0.0.1:1"}
	})
	if doc.Session.Status != results.Passed || !doc.Session.Simulated {
		t.Fatalf("the session is %+v", doc.Session)
	}
	nodes := doc.Environment.Nodes
	if len(nodes) != 2 || nodes[0].Name != "sim-1" || nodes[1].Name != "sim-2" || nodes[0].Kernel != "simulated" ||
		!nodes[0].Fabrics["sim"].Available || len(nodes[0].GPUs) != 4 {
		t.Errorf("the nodes are %+v", nodes)
	}
	last := doc.Session.Started
	for _, c := range doc.Cases {
		if len(c.Launches) != 3 {
			t.Fatalf("%s has %d launches: %s", c.Key, len(c.Launches), c.Reason)
		}
	}
	for i := range 3 {
		for _, c := range doc.Cases {
			l := c.Launches[i]
			if l.Status != results.OK || !l.Simulated || !l.Verified || l.Fabric != "sim" ||
				l.Transport != "simulated" || l.Metrics.At("bandwidth") <= 0 ||
				strings.Join(l.Nodes, " ") != "sim-1 sim-2" {
				t.Errorf("%s, launch %d: %+v", c.Key, i, l)
			}
			if l.Started.Before(last) || l.Duration <= 0 || l.Started.Sub(doc.Session.Started) > time.Second {
				t.Errorf("%s, launch %d is from %v for %v s; the one before ended at %v", c.Key, i, l.Started,
					l.Duration, last)
			}
			last = l.Started.Add(time.Duration(l.Duration * 1e9))
			for _, name := range l.Samples {
				if _, err := results.ReadSamplesFile(filepath.Join(b.dir, "session", name)); err != nil {
					t.Error(err)
				}
			}
			if len(l.Samples) != 1 {
				t.Errorf("%s, launch %d has samples %v", c.Key, i, l.Samples)
			}
		}
	}
	if b.count(event.LaunchFinished, "") != 3 || b.count(event.CaseMeasured, "") != 6 ||
		b.count(event.NodeReady, "") != 2 {
		t.Error("events are missing")
	}
	if records, err := ledger.ReadJournal(filepath.Join(b.dir, "session", ledger.JournalName)); err != nil ||
		len(records) != 5 {
		t.Errorf("the journal has %d records, %v", len(records), err)
	}
}

func TestSimulatedFailures(t *testing.T) {
	for _, c := range []struct {
		text, phase, kind string
		first, second     string // status of the cases
	}{
		{"launch 1 rank 1 run", "run", results.Fault, results.Error, results.OK},
		{"launch 1 rank 0 connect", "connect", results.FailedLink, results.Error, results.Error},
		{"launch 1 rank 1 ready crash", "ready", results.Crashed, results.Error, results.Error},
		{"launch 1 rank 0 teardown", "teardown", results.Fault, results.OK, results.Error},
	} {
		b := newBench(t)
		x, y := aSimulation("a[x=1]", withOption("sim_failure", c.text)),
			aSimulation("a[x=2]", withOption("sim_failure", c.text))
		doc := b.run(aPlan([]*planner.Case{x, y}, aGroup("a", []*planner.Case{x, y}, 3)))
		if doc.Cases[0].Status != c.first || doc.Cases[1].Status != c.second {
			t.Errorf("%s: the cases are %s (%s) and %s (%s)", c.text, doc.Cases[0].Status, doc.Cases[0].Reason,
				doc.Cases[1].Status, doc.Cases[1].Reason)
		}
		key := x.Key
		if c.first == results.OK {
			key = y.Key
		}
		f := failure(t, doc, key)
		l := doc.Case(key).Launches[len(doc.Case(key).Launches)-1]
		if f.Phase != c.phase || f.Kind != c.kind || f.Node != "sim-1" || l.Index != 1 || !l.Simulated ||
			l.Duration < 0 {
			t.Errorf("%s: launch %d failed with %+v", c.text, l.Index, f)
		}
	}
}

func TestManySimulatedRanks(t *testing.T) {
	phase.Long(t)
	size := func(ranks int) int {
		c := aSimulation("a", withOption("ranks", int64(ranks)), func(c *planner.Case) { c.Place.Nodes = ranks / 8 })
		doc := newBench(t).run(onePlan(c))
		l := doc.Cases[0].Launches[0]
		if l.Status != results.OK || len(l.Nodes) != ranks || len(l.Samples) != ranks/2 {
			t.Errorf("the launch is %s with %d nodes and %d samples", l.Status, len(l.Nodes), len(l.Samples))
		}
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	few, many := size(1024), size(8192)
	// its node, its file, and an eighth of what is said of a node
	if more := float64(many-few) / (8192 - 1024); more > 120 {
		t.Errorf("a rank more makes the document %v bytes longer", more)
	}
}

// Real and simulated groups share a session; each has its own nodes.
func TestSimulatedBesideReal(t *testing.T) {
	b := newBench(t)
	real, pretended := aCase("a"), aSimulation("b")
	p := aPlan([]*planner.Case{real, pretended}, aGroup("a", []*planner.Case{real}, 2),
		aGroup("b", []*planner.Case{pretended}, 2))
	doc := b.run(p, func(o *Options) { o.Nodes = []string{"n1"} })
	for i, want := range []struct {
		node      string
		simulated bool
	}{{"n1", false}, {"sim-1", true}} {
		c := doc.Cases[i]
		if len(c.Launches) != 2 || c.Launches[1].Status != results.OK || c.Launches[1].Nodes[0] != want.node ||
			c.Launches[1].Simulated != want.simulated {
			t.Errorf("%s is %s (%s) with launches %+v", c.Key, c.Status, c.Reason, c.Launches)
		}
	}
	if b.launches() != "a0 b0 a1 b1" || !doc.Session.Simulated {
		t.Errorf("the launches are %s, simulated: %v", b.launches(), doc.Session.Simulated)
	}
	names := ""
	for _, n := range doc.Environment.Nodes {
		names += n.Name + " "
	}
	if _, listed := doc.Environment.Nodes[0].Fabrics["sim"]; names != "n1 sim-1 " || listed {
		t.Errorf("the nodes are %s, and the real one lists sim: %v", names, listed)
	}
}

// A check has to run on a node, so the session has its agents.
func TestSimulationWithACheck(t *testing.T) {
	p := onePlan(aSimulation("a"))
	p.Checks = []planner.Check{{Name: "there", Command: []string{"true"}}}
	doc := newBench(t).run(p, func(o *Options) { o.Nodes = []string{"n1"} })
	if len(doc.Checks) != 1 || doc.Checks[0].Status != "ok" || doc.Cases[0].Status != results.OK {
		t.Errorf("the checks are %+v and the case is %s: %s", doc.Checks, doc.Cases[0].Status, doc.Cases[0].Reason)
	}
}

// A program without the simulation of a case reports that before anything runs.
func TestSimulationThatThisProgramLacks(t *testing.T) {
	v := &simulatedBackend{}
	if lacks := v.lacks(nil, workload.Demand{Runner: "another"}, nil); len(lacks) != 1 ||
		lacks[0] != "runner another: this weir does not have it" {
		t.Errorf("%q", lacks)
	}
	if lacks := v.lacks(nil, workload.Demand{Runner: move.SimRunner}, nil); lacks != nil {
		t.Errorf("%q", lacks)
	}
}

// A simulated launch is not recorded if its sample file cannot be written.
func TestSamplesOfASimulationThatCannotBeKept(t *testing.T) {
	b := newBench(t)
	dir := filepath.Join(b.dir, "session")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "samples"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	o := b.options()
	doc, err := Run(t.Context(), onePlan(aSimulation("a")), o)
	if err == nil || !strings.Contains(err.Error(), "keeping samples") || doc.Cases[0].Status != results.Skipped {
		t.Errorf("the session ended with %v and the case is %s", err, doc.Cases[0].Status)
	}
}

// Simulated cases do not read secrets, so missing ones are no error.
func TestSimulationNeedsNoSecrets(t *testing.T) {
	c := aSimulation("a", func(c *planner.Case) { c.Secrets = map[string]string{"TOKEN": "WEIR_TEST_NOT_SET"} })
	doc := newBench(t).run(onePlan(c))
	if doc.Session.Status != results.Passed || doc.Cases[0].Status != results.OK {
		t.Errorf("the session is %+v and the case %s: %s", doc.Session, doc.Cases[0].Status, doc.Cases[0].Reason)
	}
}
